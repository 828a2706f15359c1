"""Data and references of attention in its forms."""
import torch

from tensors import DEVICE, F64, data, element, poisoned

LOG2E = 1.4426950408889634
ROWS_OF_TILES = 256


def attend(q, k, v, seen, scale):
    """Softmax of the scores that are seen, times the values; zeros where none are. `scale` is in powers of two."""
    scores = (q.to(F64) @ k.to(F64).transpose(-1, -2) * scale).masked_fill(~seen, -torch.inf)
    return torch.nan_to_num(torch.softmax(scores / LOG2E, -1)) @ v.to(F64)


def depth_of(name):
    digits = name.split("_")[1][1:]
    return int(digits) if digits.isdigit() else 64


def dense_case(name, dims):
    t, d = element(name), depth_of(name)
    b, h, g, s, length, window = (dims[key] for key in ("B", "H", "G", "S", "L", "window"))
    q, k, v = data((b, h, s, d), t), data((b, g, length, d), t), data((b, g, length, d), t)
    scale = LOG2E / d**0.5
    row, column = torch.arange(s, device=DEVICE)[:, None], torch.arange(length, device=DEVICE)[None, :]
    seen = (column <= row) & (column > row - window) if "window" in name else column >= 0 * row

    def reference():
        wide = [x.repeat_interleave(h // g, dim=1) for x in (k, v)]
        return attend(q, *wide, seen, scale)

    return dict(dims, Q=q, K=k, V=v, O=poisoned(q.shape, t), scale=scale), {"O": reference}


def packed_case(name, dims):
    t, d = element(name), 64
    n, h, g, edges = dims["N"], dims["H"], dims["G"], dims["E"]
    q, k, v = data((n, h, d), t), data((n, g, d), t), data((n, g, d), t)
    offsets = torch.tensor([0, *torch.randint(0, n + 1, (max(edges - 2, 0),)).sort()[0].tolist(), n][:edges], device=DEVICE, dtype=torch.int32)
    scale = LOG2E / d**0.5
    row = torch.arange(n, device=DEVICE)
    # What lies before the first sequence or behind the last is of none.
    sequence = torch.searchsorted(offsets.to(torch.int64), row, right=True)
    inside = (sequence > 0) & (sequence < edges)
    seen = (sequence[:, None] == sequence[None, :]) & inside[:, None]
    if "causal" in name:
        seen &= row[None, :] <= row[:, None]

    def reference():
        wide = [x.repeat_interleave(h // g, dim=1).transpose(0, 1) for x in (k, v)]
        return attend(q.transpose(0, 1), *wide, seen, scale).transpose(0, 1)

    return dict(dims, Q=q, K=k, V=v, O=poisoned(q.shape, t), offsets=offsets, scale=scale), {"O": reference}


def lengths_of(count, most, dims):
    """From `most` down to 0, in no order, or all full where times are taken."""
    steps = torch.linspace(1, 0, count)[torch.randperm(count)] if count > 1 and "full" not in dims else torch.ones(count)
    return (steps * most).to(DEVICE, torch.int32)


def decoding_case(name, dims):
    t = element(name)
    b, h, g, length, splits, d = *(dims[key] for key in ("B", "H", "G", "L", "splits")), 64 if "bf16" in name else 128
    q, k, v = data((b, h, d), t), data((b, g, length, d), t), data((b, g, length, d), t)
    lengths, scale = lengths_of(b, length, dims), LOG2E / d**0.5
    values = dict(dims, Q=q, K=k, V=v, O=poisoned(q.shape, t), lengths=lengths, scale=scale,
                  part=poisoned((b, g, splits, 16, d), torch.float32), lse=poisoned((b, g, splits, 16), torch.float32))

    def reference():
        seen = torch.arange(length, device=DEVICE)[None, :] < lengths[:, None]
        rows = attend(q.view(b, g, h // g, d), k, v, seen[:, None, None, :], scale)
        return rows.reshape(b, h, d)

    return values, {"O": reference}


def latent_case(name, dims):
    t = element(name)
    b, h, length = dims["B"], dims["H"], dims["L"]
    latent, turned = (128, 32) if "small" in name else (512, 64)
    qc, qr, c, r = data((b, h, latent), t), data((b, h, turned), t), data((b, length, latent), t), data((b, length, turned), t)
    lengths, scale = lengths_of(b, length, dims), LOG2E / (latent + turned) ** 0.5

    def reference():
        seen = torch.arange(length, device=DEVICE)[None, :] < lengths[:, None]
        return attend(torch.cat((qc, qr), -1), torch.cat((c, r), -1), c, seen[:, None, :], scale)

    return dict(dims, Qc=qc, Qr=qr, C=c, R=r, O=poisoned(qc.shape, t), lengths=lengths, scale=scale), {"O": reference}


def backward_case(name, dims):
    t, d = element(name), 128 if "d128" in name else 64
    b, h, g, s, length = (dims[key] for key in ("B", "H", "G", "S", "L"))
    q, do, k, v = data((b, h, s, d), t), data((b, h, s, d), t), data((b, g, length, d), t), data((b, g, length, d), t)
    scale = LOG2E / d**0.5
    row, column = torch.arange(s, device=DEVICE)[:, None], torch.arange(length, device=DEVICE)[None, :]
    hidden = (column > row) & ("causal" in name)

    def scores():
        return (q.to(F64) @ k.to(F64).repeat_interleave(h // g, 1).transpose(-1, -2) * scale).masked_fill(hidden, -torch.inf)

    # What the forward pass leaves is rounded, and is the kernel's input. Head by head, as scores of long sequences fill the memory.
    lse, o = torch.empty((b, h, s), device=DEVICE), torch.empty(q.shape, device=DEVICE, dtype=t)
    for z, head in ((z, head) for z in range(b) for head in range(h)):
        own = (q[z, head].to(F64) @ k[z, head * g // h].to(F64).T * scale).masked_fill(hidden, -torch.inf)
        lse[z, head] = torch.logsumexp(own / LOG2E, -1) * LOG2E
        o[z, head] = torch.exp2(own - lse[z, head].to(F64)[:, None]) @ v[z, head * g // h].to(F64)

    def parts():
        p = torch.exp2(scores() - lse.to(F64)[..., None])
        delta = (do.to(F64) * o.to(F64)).sum(-1, keepdim=True)
        return p, p * (do.to(F64) @ v.to(F64).repeat_interleave(h // g, 1).transpose(-1, -2) - delta) * (scale / LOG2E)

    def over_heads(x):
        return x.reshape(b, g, h // g, length, d).sum(2)

    wanted = {"dQ": lambda: parts()[1] @ k.to(F64).repeat_interleave(h // g, 1),
              "dK": lambda: over_heads(parts()[1].transpose(-1, -2) @ q.to(F64)),
              "dV": lambda: over_heads(parts()[0].transpose(-1, -2) @ do.to(F64))}
    # What the launches leave each other: rows in whole tiles, of at most so many.
    whole = (s + ROWS_OF_TILES - 1) // ROWS_OF_TILES * ROWS_OF_TILES
    values = dict(dims, Q=q, K=k, V=v, O=o, dO=do, lse=lse, scale=scale, delta=poisoned((b, h, s), torch.float32),
                  known=poisoned((b, h, 2, whole), torch.float32), sums=poisoned((b, h, s, d), torch.float32),
                  dQ=poisoned(q.shape, t), dK=poisoned(k.shape, t), dV=poisoned(v.shape, t))
    return values, wanted


def linear_case(name, dims):
    t = element(name)
    b, h, s, n, d = *(dims[key] for key in "BHSN"), {torch.float16: 64, torch.bfloat16: 128, torch.float32: 32}[t]
    q, k, v = data((b, h, s, d), t), data((b, h, s, d), t), data((b, h, s, n), t)
    # Sums stay within f16.
    q, k = q * 0.25, k * 0.25
    rates = -torch.arange(1, h + 1, device=DEVICE, dtype=torch.float32) / 16
    row = torch.arange(s, device=DEVICE)
    distance = (row[:, None] - row[None, :]).to(F64)
    fading = torch.exp2(rates.to(F64)[:, None, None] * distance).masked_fill(distance < 0, 0)
    # No state: a call would change what the next one begins with.
    values = dict(dims, Q=q, K=k, V=v, O=poisoned(v.shape, t), rates=rates)
    return values, {"O": lambda: (q.to(F64) @ k.to(F64).transpose(-1, -2) * fading) @ v.to(F64)}


DENSE = [dict(B=b, H=h, G=g, S=s, L=n, window=w) for b, h, g, s, n, w in
         [(1, 1, 1, 1, 1, 1), (1, 3, 1, 33, 65, 7), (1, 1, 1, 129, 131, 100), (2, 2, 2, 16, 16, 16), (1, 3, 3, 7, 131, 5), (1, 1, 1, 200, 33, 9),
          (2, 4, 4, 257, 1031, 65), (1, 8, 2, 1024, 1024, 300)]]
PACKED = [dict(N=n, H=h, G=g, E=e) for n, h, g, e in
          [(1, 1, 1, 2), (33, 3, 1, 5), (131, 3, 3, 8), (65, 5, 5, 3), (256, 2, 2, 2), (7, 1, 1, 1), (0, 1, 1, 3), (1031, 4, 2, 9), (4096, 4, 1, 33)]]
DECODING = [dict(B=b, H=h, G=g, L=n, splits=p) for b, h, g, n, p in
            [(1, 1, 1, 1, 1), (3, 9, 3, 257, 3), (2, 16, 1, 1000, 8), (4, 8, 8, 64, 2), (1, 5, 5, 4097, 7), (5, 3, 1, 33, 15), (7, 1, 1, 129, 1), (3, 9, 3, 0, 5),
             (16, 32, 8, 4001, 8)]]
LATENT = [dict(B=b, H=h, L=n) for b, h, n in [(1, 1, 1), (3, 5, 33), (1, 17, 257), (2, 65, 31), (1, 64, 128), (5, 3, 7), (3, 1, 129), (2, 9, 0), (8, 128, 1025)]]
BACKWARD = [dict(B=b, H=h, G=g, S=s, L=n) for b, h, g, s, n in
            [(1, 1, 1, 1, 1), (1, 3, 1, 33, 65), (1, 1, 1, 129, 131), (2, 2, 2, 16, 16), (1, 3, 3, 7, 131), (1, 1, 1, 200, 33), (1, 1, 1, 0, 5),
             (1, 3, 1, 257, 515), (1, 8, 2, 1024, 1024)]]
# Beyond what rounding the result costs: of one row, two roundings to bf16 meet.
TOLERANCE = {"linear_attention_bf16": 8e-3}
# Sums in no fixed order give other bits each time.
UNORDERED = {("attention_backward_f16", "dQ"), ("attention_backward_d128", "dQ")}
# What the launcher hands out, at multiples of 256 bytes.
WORKSPACES = {"split_k": {"partial"}, "flash_decoding": {"part", "lse"}, "attention_backward": {"delta", "known", "sums"}}
LINEAR = [dict(B=b, H=h, S=s, N=n) for b, h, s, n in
          [(2, 3, 5, 7), (3, 3, 33, 65), (1, 5, 257, 31), (1, 2, 128, 64), (3, 1, 65, 7), (1, 1, 1001, 3), (1, 7, 129, 17), (2, 2, 0, 5), (1, 8, 2048, 128)]]
CASES = {
    "linear_attention": (linear_case, LINEAR),
    "linear_attention_bf16": (linear_case, LINEAR),
    "attention_backward": (backward_case, BACKWARD),
    "attention_backward_f16": (backward_case, BACKWARD),
    "attention_backward_d128": (backward_case, BACKWARD),
    "mla_decode": (latent_case, LATENT),
    "flash_decoding": (decoding_case, DECODING),
    "attention_d": (dense_case, DENSE),
    "attention_window": (dense_case, DENSE),
    "attention_packed": (packed_case, PACKED),
}


def backward(v):
    """PyTorch's forward pass is made once, outside of what is timed."""
    if "graph" not in v:
        leaves = [v[key].detach().requires_grad_() for key in "QKV"]
        v["graph"] = torch.nn.functional.scaled_dot_product_attention(*leaves), leaves
    out, leaves = v["graph"]
    return torch.autograd.grad(out, leaves, v["dO"], retain_graph=True)


def timings(beside):
    def fused(v, causal=False):
        return torch.nn.functional.scaled_dot_product_attention(v["Q"], v["K"], v["V"], is_causal=causal)

    for name in ("attention_d64_f16", "attention_d96_f16", "attention_d128_bf16", "attention_d192_f16", "attention_d256_f16"):
        beside(name, dict(B=1, H=16, G=16, S=4096, L=4096, window=1), fused)
    # Beside a causal one without a window.
    beside("attention_window_f16", dict(B=1, H=16, G=16, S=8192, L=8192, window=1024), lambda v: fused(v, True))
    for b, length, splits in ((1, 65536, 32), (64, 8192, 1)):
        beside("flash_decoding_f16", dict(B=b, H=32, G=8, L=length, splits=splits, full=1),
               lambda v: torch.nn.functional.scaled_dot_product_attention(v["Q"][:, :, None], v["K"], v["V"], enable_gqa=True))

    def latent(v):
        scores = v["Qc"] @ v["C"].transpose(1, 2) + v["Qr"] @ v["R"].transpose(1, 2)
        return torch.softmax(scores / 24, -1) @ v["C"]

    beside("mla_decode_f16", dict(B=132, H=128, L=4096, full=1), latent)

    for name in ("attention_backward_f16", "attention_backward_ordered_f16", "attention_backward_d128_bf16"):
        beside(name, dict(B=1, H=16, G=16, S=4096, L=4096), backward)
