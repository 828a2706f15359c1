"""Where tests of whole functions keep their tensors: in this process, or on a GPU."""
import ctypes


class Host:
    """Tensors in this process's memory."""
    def place(self, array):
        return array.ctypes.data, array

    def fetch(self, placed):
        return placed[1]

    def free(self, placed):
        pass


class Device:
    """Tensors in the memory of the first GPU, by its driver alone."""
    def __init__(self):
        self.driver = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        for name, arguments in (("cuInit", [0]), ("cuDevicePrimaryCtxRetain", [ctypes.byref(context), 0]), ("cuCtxSetCurrent", [context])):
            self.call(name, *arguments)

    def call(self, name, *arguments):
        code = getattr(self.driver, name)(*arguments)
        if code:
            raise RuntimeError(f"{name}: {code}")

    def place(self, array):
        at = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(max(array.nbytes, 1)))
        self.call("cuMemcpyHtoD_v2", at, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))
        return at.value, array

    def fetch(self, placed):
        at, array = placed
        self.call("cuCtxSynchronize")
        self.call("cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), ctypes.c_uint64(at), ctypes.c_size_t(array.nbytes))
        return array

    def free(self, placed):
        self.call("cuMemFree_v2", ctypes.c_uint64(placed[0]))
