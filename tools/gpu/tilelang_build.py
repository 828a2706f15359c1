#!/usr/bin/env python3
"""Compiles TileLang's own examples to images that run where neither it nor a toolkit is, for the rows of `table.py` beside it.

    tilelang_build.py CHECKOUT FOLDER [WORD...]

CHECKOUT is TileLang's repository; the interpreter's environment has its wheel, and nvcc is found. Candidates whose name holds one of
the words, or all: with wheels of several ages, each in its own environment, give each what it takes. FOLDER gets, for each candidate,
NAME.cubin.gz and NAME.json: our export and its sizes, tensors, launches with all their arguments. Nothing of the examples' text goes there.
"""
import gzip
import importlib.metadata
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

import tilelang
import tvm

try:  # wheels of 0.1.9 and older keep these elsewhere
    from tilelang.cuda.backend import tilelang_callback_cuda_compile as image_of
    from tvm import tirx as tir
except ImportError:
    from tilelang.engine.lower import tilelang_callback_cuda_compile as image_of
    from tvm import tir

VERSION = importlib.metadata.version("tilelang")
PROCESSORS = 132  # of an H100: persistent examples ask the device
MOST_SHARED = 227 << 10  # bytes of a block there
TOKENS = 16384  # as in table.py

# Parameters of the examples -> (ours, its axes in their order); the last one is the result.
PRODUCT = {"A": ("A", None), "B": ("B", None), "C": ("C", None)}
ATTENTION = {"Q": ("Q", None), "K": ("K", None), "V": ("V", None), "Output": ("O", None)}
TURNED_ATTENTION = {key: (ours, [0, 2, 1, 3]) for key, (ours, _) in ATTENTION.items()}
LATENT = {"Q": ("Qc", None), "Q_pe": ("Qr", None), "KV": ("C", None), "K_pe": ("R", None), "Output": ("O", None)}

# (block_M, block_N, block_K, num_stages, threads): the example's own for sm_90 first, then others of the lists that it tunes over.
PRODUCT_TILES = [(128, 256, 64, 3, 256), (128, 256, 64, 2, 256), (256, 128, 64, 3, 256), (256, 128, 64, 2, 256), (128, 128, 64, 3, 256),
                 (128, 128, 64, 3, 128), (128, 128, 64, 2, 128), (128, 256, 32, 3, 256), (256, 256, 64, 2, 256)]
# (block_M, block_N, num_stages, threads): what the examples call, and what they tune over.
ATTENTION_TILES = {
    64: [(128, 128, 2, 256), (128, 128, 1, 256), (128, 128, 3, 256), (128, 128, 1, 128), (64, 128, 2, 128), (128, 64, 2, 128),
         (64, 64, 2, 128), (128, 256, 2, 256)],
    128: [(128, 128, 2, 256), (128, 128, 1, 256), (128, 128, 1, 128), (128, 64, 2, 256), (64, 128, 2, 128), (64, 64, 2, 128),
          (128, 64, 2, 128), (64, 64, 1, 128)],
}


def products():
    """(export, dims, file, function, arguments, parameters); all of these are."""
    names = ("block_M", "block_N", "block_K", "num_stages")
    for n in (4096, 8192):
        dims = dict(M=n, N=n, K=n)
        for *tile, threads in PRODUCT_TILES:
            tiles = dict(zip(names, tile))
            for function in ("matmul_persistent", "matmul_non_persistent"):
                yield "gemm_nn_f16", dims, "examples/gemm/example_gemm_persistent.py", function, dims | tiles | {"threads": threads}, PRODUCT
            for is_swizzled in (True, False):
                arguments = dims | tiles | {"thread_num": threads, "enable_rasteration": is_swizzled}
                yield "gemm_nt_f16", dims, "examples/gemm/example_gemm_autotune.py", "matmul", arguments, PRODUCT
        arguments = dims | dict(block_M=128, block_N=128, block_K=32)
        yield "gemm_nn_f16", dims, "examples/gemm/example_gemm.py", "matmul", arguments, PRODUCT


def attentions():
    folder, names = "examples/flash_attention", ("block_M", "block_N", "num_stages", "threads")
    exports = {64: ("attention_d64_f16", "attention_causal_d64_f16"), 128: ("attention_f16", "attention_causal_f16")}
    for depth, length, is_causal in ((d, n, c) for d in (64, 128) for n in (4096, 16384) for c in (False, True)):
        heads, batch = 2048 // depth, TOKENS // length
        dims = dict(B=batch, H=heads, G=heads, S=length, L=length, window=1)
        export = exports[depth][is_causal]
        common = dict(batch=batch, heads=heads, dim=depth, is_causal=is_causal)
        both = dict(seq_q=length, seq_kv=length)
        for tile in ATTENTION_TILES[depth]:
            tiles = common | dict(zip(names, tile))
            yield export, dims, f"{folder}/example_mha_fwd_bhsd.py", "flashattn", tiles | both, ATTENTION
        tiles = common | dict(zip(names, ATTENTION_TILES[depth][0]))
        yield export, dims, f"{folder}/example_mha_fwd_bshd.py", "flashattn", tiles | {"seq_len": length}, TURNED_ATTENTION
        # These overlap products and softmax, and left the repository after 0.1.8.
        yield export, dims, f"{folder}/example_mha_fwd_bhsd_wgmma_pipelined.py", "flashattn", tiles | both, ATTENTION
        yield export, dims, f"{folder}/example_mha_fwd_bshd_wgmma_pipelined.py", "flashattn", tiles | {"seq_len": length}, TURNED_ATTENTION


def decodings():
    dims = dict(B=128, H=128, L=8192, full=1)
    common = dict(batch=128, heads=128, kv_head_num=1, seqlen_kv=8192, dim=512, pe_dim=64, block_N=64, block_H=64)
    scale = dict(softmax_scale=576**-0.5)
    folder = "examples/deepseek_mla"
    for splits in (1, 2, 4):
        for file in ("example_mla_decode", "example_mla_decode_ws"):
            yield "mla_decode_f16", dims, f"{folder}/{file}.py", "flashattn", common | scale | {"num_split": splits}, LATENT
        yield "mla_decode_f16", dims, f"{folder}/example_mla_decode_persistent.py", "flashattn", common | {"num_split": splits}, LATENT
    special = "examples/warp_specialize/example_warp_specialize_flashmla.py"
    yield "mla_decode_f16", dims, special, "flashattn", common | {"num_split": 1}, LATENT


def example(checkout, file, function):
    """The file as the release of this wheel has it, where the checkout knows that tag; else as it lies there."""
    tagged = subprocess.run(["git", "-C", checkout, "show", f"v{VERSION}:{file}"], capture_output=True)
    path = checkout / file
    if tagged.returncode == 0:
        path = pathlib.Path(tempfile.mkdtemp()) / path.name
        path.write_bytes(tagged.stdout)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if hasattr(module, "driver"):
        module.driver.get_num_sms = lambda *_: PROCESSORS
    found = getattr(module, function)
    return getattr(found, "jit_impl", found)


def lowered(kernel, arguments):
    """The host's and the device's program, and the image, by the flags that TileLang takes itself."""
    configs = dict(kernel.pass_configs or {})
    target = tvm.target.Target({"kind": "cuda", "arch": "sm_90a"})
    function = kernel.get_tir(**arguments)
    flags = kernel.compile_flags or []
    if flags:
        configs[tilelang.PassConfigKey.TL_DEVICE_COMPILE_FLAGS] = [flags] if isinstance(flags, str) else flags
    with tvm.transform.PassContext(opt_level=3, config=configs), target:
        artifact = tilelang.lower(function, target=target)
    return artifact.host_mod, artifact.device_mod, bytes(image_of(artifact.kernel_source, target, configs))


def packed_calls(body):
    calls = []

    def visit(node):
        if isinstance(node, tir.Call) and str(getattr(node.op, "name", "")).endswith("tvm_call_packed"):
            calls.append([node.args[0].value, *list(node.args)[1:]])

    tir.stmt_functor.post_order_visit(body, visit)
    return calls


def tensors_of(body):
    """Of each pointer its name, type and extents; those that the host makes itself are among them."""
    found = {}

    def visit(node):
        buffer = getattr(node, "buffer", None)
        if isinstance(buffer, tir.Buffer) and buffer.dtype != "handle" and buffer.data.name not in found:
            found[buffer.data.name] = dict(dtype=str(buffer.dtype), shape=[int(n) for n in buffer.shape])

    tir.stmt_functor.post_order_visit(body, visit)
    return found


def map_of(call):
    """Parameters of cuTensorMapEncodeTiled in their order; the innermost stride is one element's, and is not told."""
    _, kind, rank, tensor, *numbers = call
    rank, numbers = int(rank), [int(n) for n in numbers]
    extents, strides, box, steps, rest = (numbers[rank * i:rank * (i + 1)] if i < 4 else numbers[rank * 4:] for i in range(5))
    assert len(rest) == 4, "a map has four modes behind its extents"
    return dict(tensor=tensor.name, type=int(kind), extents=extents, strides=strides[1:], box=box, steps=steps, modes=rest)


def launch_of(name, arguments, function, maps):
    tags = [str(tag) for tag in next(value for key, value in function.attrs.items() if key.endswith("kernel_launch_params"))]
    # A tag without a number stands for what is no extent.
    count = len(function.params)
    given = dict(zip(tags, (int(n) for n in arguments[count:])))
    unknown = [tag for tag in tags if not tag.startswith(("blockIdx.", "threadIdx.")) and not tag.endswith("use_dyn_shared_memory")]
    if unknown or "cluster_dims" in function.attrs or "has_cuda_pdl_sync" in function.attrs:
        raise ValueError(f"{name} is launched in a way that is not foreseen: {tags}")
    shared = next((n for tag, n in given.items() if tag.endswith("use_dyn_shared_memory")), 0)
    if shared > MOST_SHARED:
        raise ValueError(f"{name} takes {shared} bytes of shared memory")
    described = []
    for argument in arguments[:count]:
        if not isinstance(argument, tir.Var):
            raise ValueError(f"{name} takes {argument}")
        described.append({"map": maps[argument.name]} if argument.name in maps else {"tensor": argument.name})
    return dict(kernel=name, grid=[given.get(f"blockIdx.{axis}", 1) for axis in "xyz"], block=[given.get(f"threadIdx.{axis}", 1) for axis in "xyz"],
                shared=shared, is_cooperative=bool(function.attrs.get("use_cooperative_groups", False)), arguments=described)


def described(host, device):
    (function,) = host.functions.values()
    kernels = {variable.name_hint: kernel for variable, kernel in device.functions.items()}
    maps, launches, used = {}, [], set()
    for name, *arguments in packed_calls(function.body):
        if name.endswith("tensormap_create_tiled"):
            maps[arguments[0].name] = map_of(arguments)
        elif name in kernels:
            launches.append(launch_of(name, arguments, kernels[name], maps))
        elif not name.endswith("set_device") and not name.startswith("__tvm_error"):
            raise ValueError(f"the host calls {name}")
    for launch in launches:
        used |= {argument["map"]["tensor"] if "map" in argument else argument["tensor"] for argument in launch["arguments"]}
    tensors = tensors_of(function.body)
    return dict(tensors={name: tensors[name] for name in sorted(used)}, launches=launches)


def build(checkout, folder, candidate):
    export, dims, file, function, arguments, parameters = candidate
    kernel = example(checkout, file, function)
    host, device, image = lowered(kernel, arguments)
    settings = " ".join(f"{key}={value}" for key, value in arguments.items() if key.startswith(("block", "num_", "thread", "enable")))
    text = f"TileLang {VERSION} {pathlib.Path(file).stem}.{function} {settings}"
    name = "-".join([export, *(f"{key}{value}" for key, value in dims.items()), text.replace(" ", "-").replace("=", "")])
    result = dict(name=text, export=export, dims=dims, parameters=parameters, result=list(parameters)[-1], **described(host, device))
    (folder / f"{name}.cubin.gz").write_bytes(gzip.compress(image, mtime=0))
    (folder / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    return name


def main():
    checkout, folder, words = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    folder.mkdir(parents=True, exist_ok=True)
    made = missed = 0
    for candidate in (*products(), *attentions(), *decodings()):
        title = f"{candidate[0]} {candidate[1]} {candidate[2]} {candidate[3]} {candidate[4]}"
        if words and not any(word in title for word in words):
            continue
        try:
            print(build(checkout, folder, candidate), flush=True)
            made += 1
        except Exception as problem:  # an example that this wheel does not take is no candidate
            print(f"not made: {title}: {type(problem).__name__} {str(problem)[-300:]}", flush=True)
            missed += 1
    print(f"{made} made, {missed} not")
    sys.exit(made == 0)


if __name__ == "__main__":
    main()
