"""Random tensors on the GPU, and outputs that hold what no kernel writes."""
import torch

DEVICE = torch.device("cuda")
F64 = torch.float64

DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "tf32": torch.float32, "i32": torch.int32, "i8": torch.int8,
          "u8": torch.uint8, "f8e4m3": torch.float8_e4m3fn, "f64": torch.float64}


def data(shape, dtype):
    if dtype in (torch.int32, torch.int8):
        return torch.randint(-100, 100, shape, device=DEVICE, dtype=torch.int32).to(dtype)
    if dtype == torch.uint8:
        return torch.randint(0, 256, shape, device=DEVICE, dtype=torch.int32).to(dtype)
    return torch.randn(shape, device=DEVICE).clamp(-4, 4).to(dtype)


def poisoned(shape, dtype):
    out = torch.empty(shape, device=DEVICE, dtype=dtype)
    out.view(torch.uint8).fill_(0xFF) if out.numel() else None
    return out


def element(name):
    for part in reversed(name.split("_")):
        if part in DTYPES:
            return DTYPES[part]
    return torch.uint8


def multiplied(name, x):
    """The numbers that an export multiplies: of floats that stand for tf32, or become it, the upper 19 bits."""
    if not name.endswith("tf32"):
        return x
    bits = x.contiguous().view(torch.int32)
    if "rounded" in name:
        bits = bits + 0xFFF + (bits >> 13 & 1)
    return (bits & ~0x1FFF).view(torch.float32)
