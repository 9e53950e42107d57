# Everything happens in .venv, which is made on the first call. PYTHON names another interpreter to make it with.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
DEMO := build/demo
TARGETS ?= reference,native,vulkan,ptx-emulator
SWIFTSHADER := $(VENV)/swiftshader
APT := DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends

.PHONY: demo test lint proofs mutants bench acceptance vulkan swiftshader clean

# Compiles one kernel for three targets, shows the dot instruction of each, then runs it and compares with numpy.
demo: $(VENV)/plain
	$(BIN)/cajetac samples/q4k_matvec.cj --target x86-vnni,nvptx,spirv -S -o $(DEMO)/
	@grep -m 2 -E 'vpdpbusd|dp4a|Op(S|U|SU)Dot' $(DEMO)/*
	$(BIN)/python samples/q4k_demo.py

test: $(VENV)/test vulkan swiftshader
	$(BIN)/python -m pytest -n 2

# ruff and pyright; `pyright[nodejs]` brings the node that pyright runs on.
lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

# Every lowering of a dot product, proved equal to the definition for all inputs.
proofs: $(VENV)/test
	$(BIN)/python -m cajeta_dot.backends.forms.prove

# Programs with known answers on several targets: make acceptance DIR=folder [TARGETS=reference,native,vulkan,ptx-emulator]
acceptance: $(VENV)/plain
	@test -n "$(DIR)" || { echo "say which folder of programs: make acceptance DIR=..."; exit 1; }
	$(BIN)/python -m tests.acceptance $(DIR) --targets $(TARGETS)

# The test of the tests: faults put into the compiler on purpose, and the test that finds each.
mutants: $(VENV)/test
	$(BIN)/python -m tests.mutants.run

# Needs a C compiler for the kernels' peers; `pip install -e .[bench]` adds other software to compare with.
bench: $(VENV)/test
	$(BIN)/python -m benchmarks.start_up
	$(BIN)/python -m benchmarks.cold
	$(BIN)/python -m benchmarks.growth
	$(BIN)/python -m benchmarks.check
	$(BIN)/python -m benchmarks.parse
	$(BIN)/python -m benchmarks.calls
	$(BIN)/python -m benchmarks.kernels

clean:
	rm -rf build dist *.egg-info .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

# ---- the environment; what is installed in it is remembered by empty files

$(VENV)/python:
	@command -v $(PYTHON) >/dev/null || { echo "no $(PYTHON); install Python 3.11 or later, or name it: make PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and f"Python 3.11 or later is needed, found {v[0]}.{v[1]}; make PYTHON=...")'
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "$(PYTHON) can't make environments; on Debian: apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/plain: $(VENV)/python pyproject.toml
	$(PIP) install -e .
	@touch $@

$(VENV)/test: $(VENV)/python pyproject.toml
	$(PIP) install -e '.[test]'
	@touch $@

$(VENV)/dev: $(VENV)/python pyproject.toml
	$(PIP) install -e '.[test,dev]'
	@touch $@

# The Vulkan driver that runs on the CPU: only root can install it; without one the tests that need it say so and skip.
vulkan:
	@if ls /usr/share/vulkan/icd.d/lvp_icd*.json >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	    && timeout 300 sh -c 'apt-get update && $(APT) mesa-vulkan-drivers libvulkan1' </dev/null >/dev/null 2>&1; then :; \
	else echo "no Vulkan driver for the CPU (apt install mesa-vulkan-drivers libvulkan1): its tests will be skipped"; fi

# A second one, two files out of a package of 32 MB that is not installed itself.
swiftshader: $(VENV)/python
	@if [ -e $(SWIFTSHADER)/vk_swiftshader_icd.json ]; then :; \
	elif command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null && timeout 300 sh -ec ' \
	    rm -rf $(SWIFTSHADER) $(SWIFTSHADER).part; mkdir $(SWIFTSHADER).part; cd $(SWIFTSHADER).part; \
	    apt-get download chromium-common || { apt-get update && apt-get download chromium-common; }; \
	    dpkg-deb --fsys-tarfile chromium-common_*.deb | tar -x --strip-components=4 \
	        ./usr/lib/chromium/libvk_swiftshader.so ./usr/lib/chromium/vk_swiftshader_icd.json; \
	    rm chromium-common_*.deb; mv ../swiftshader.part ../swiftshader' </dev/null >/dev/null 2>&1; then :; \
	else echo "no SwiftShader (out of Debian's chromium-common), the second Vulkan driver: its tests will be skipped"; fi
