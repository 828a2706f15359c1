"""What the engine that copies boxes is told of tensors, as the launcher tells it: `src/target/cuda/boxes.c`, `pack.c`."""
import ctypes
import math
import struct

import torch

UNIT, AXES, THREADS, STEPS = 16, 4, 256, 2

cuda = ctypes.CDLL("libcuda.so.1")


class Array:
    """A tensor's address, extents, and strides in bytes."""

    def __init__(self, tensor):
        self.address, self.width = tensor.data_ptr(), tensor.element_size()
        self.shape, self.strides, self.memory = list(tensor.shape), [s * self.width for s in tensor.stride()], tensor
        for axis in range(len(self.shape) - 1):
            if self.shape[axis] == 1:  # nothing is ever a stride away
                self.strides[axis] = -(-self.strides[axis] // UNIT) * UNIT

    def suits(self):
        rows = self.strides[:-1]
        return not (self.address % UNIT or any(s % UNIT or s < UNIT for s in rows) or self.strides[-1] != self.width or not math.prod(self.shape))


def packed(array, function, attributes, stream):
    """Its copy, whose rows begin at multiples of UNIT bytes; made by the image's function."""
    is_empty = not math.prod(array.shape)
    row = 0 if is_empty else array.shape[-1] * array.width
    padded = -(-max(row, array.width) // UNIT) * UNIT
    axes, low, high = [], array.address, array.address + row
    for extent, stride in reversed([(e, s) for e, s in zip(array.shape[:-1], array.strides[:-1]) if e > 1]):
        low, high = low + min(0, (extent - 1) * stride), high + max(0, (extent - 1) * stride)
        if axes and axes[-1][0] * axes[-1][1] == stride:
            axes[-1][0] *= extent
        else:
            axes.append([extent, stride])
    shape = [max(extent, 1) for extent in array.shape]
    size = math.prod(shape[:-1]) * padded
    copy = Array(torch.empty(size, dtype=torch.uint8, device=array.memory.device))
    copy.width, copy.shape = array.width, shape
    copy.strides = [padded * math.prod(shape[axis + 1:-1]) for axis in range(len(shape) - 1)] + [array.width]
    has_one_axis, axes = len(axes) < 2, axes + [[1, 0]] * (AXES - len(axes))
    words = [array.address, copy.address, row, padded // UNIT, size // UNIT, low, high, has_one_axis,
             *(extent for extent, _ in axes), *(stride for _, stride in axes)]
    argument = struct.pack("<16q", *(word - (1 << 64) if word >= 1 << 63 else word for word in words))
    memory = ctypes.create_string_buffer(argument)
    config = struct.pack("<7I4xQQI4x", min(-(-size // (UNIT * THREADS * STEPS)), 1 << 20), 1, 1, THREADS, 1, 1, 0, stream, ctypes.addressof(attributes), 1)
    code = cuda.cuLaunchKernelEx(config, function, (ctypes.c_void_p * 1)(ctypes.addressof(memory)), None)
    if code:
        raise RuntimeError(f"tile_pack: {code}")
    return copy


class Descriptors:
    """Of every box what the engine is told, then a byte each: whether it holds. Copies live as long as this."""

    def __init__(self, boxes, values, pack, stream):
        overlaps = ctypes.create_string_buffer(struct.pack("<i4xi60x", 6, 1), 72)
        self.memory = ctypes.create_string_buffer(64 + 129 * len(boxes))
        self.address = (ctypes.addressof(self.memory) + 63) & ~63
        self.arrays = {}
        for i, (name, extents, swizzle, adds, is_packed) in enumerate(boxes):
            array = self.arrays.get(name) or Array(values[name])
            if is_packed and not array.suits():
                array = packed(array, pack, overlaps, stream)
            self.arrays[name] = array
            holds = array.suits() and self.describe(self.address + 128 * i, array, [int(n) for n in extents.split("x")], int(swizzle), adds)
            if is_packed and not holds:
                raise RuntimeError(f"{name} is not described")
            ctypes.c_char.from_address(self.address + 128 * len(boxes) + i).value = bytes([holds])

    @staticmethod
    def describe(place, array, extents, swizzle, adds):
        rank = len(extents)
        code = cuda.cuTensorMapEncodeTiled(
            ctypes.c_void_p(place), {"f16": 6, "bf16": 9, "f32": 7}[adds] if adds else {1: 0, 2: 1, 4: 2, 8: 4}[array.width], rank,
            ctypes.c_void_p(array.address), (ctypes.c_uint64 * rank)(*reversed(array.shape)), (ctypes.c_uint64 * rank)(*reversed(array.strides[:-1])),
            (ctypes.c_uint32 * rank)(*reversed(extents)), (ctypes.c_uint32 * rank)(*[1] * rank), 0,
            {0: 0, 32: 1, 64: 2, 128: 3}[swizzle], 2, 0)
        return code == 0
