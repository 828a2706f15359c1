# Rules for Make: NAME.tile gives NAME.o and NAME.h.
#
#   include /usr/local/share/tilec/tilec.mk     # pkg-config --variable=makefile tilec
#   program: main.o gemm.o
#   main.o: gemm.h
#
# TILEC is the compiler, TILEFLAGS its options; left out, the compiler is the one that these rules were installed with, or, as
# Make splits names at spaces, the one in PATH where there is a space in the folder that they were installed to. The files
# that a source imports are tracked in NAME.o.d, in this folder and three below.
tilec_beside := $(wildcard $(dir $(lastword $(MAKEFILE_LIST)))../../bin/tilec)
TILEC ?= $(or $(tilec_beside),tilec)
TILEFLAGS ?=

%.o: %.tile
	"$(TILEC)" compile $(TILEFLAGS) -o $@ --header $*.h -MD -MP -MF $@.d -MT $@ $<

# A header whose text did not change keeps its time stamp.
%.h: %.o
	@test -f $@ || { rm -f $< && $(MAKE) $<; }

# What the first target is stays the including file's choice.
tilec_goal := $(.DEFAULT_GOAL)
-include $(wildcard *.o.d */*.o.d */*/*.o.d */*/*/*.o.d)
.DEFAULT_GOAL := $(tilec_goal)
