"""The algebra of `backends/forms`, written into a function at hand."""

from __future__ import annotations

from cajeta_dot.backends.forms.llvm_reading import LlvmReading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cajeta_dot.backends.llvm.writer import Writer


class WriterReading(LlvmReading):
    """Its instructions are the writer's, so they are located as all others are."""

    def __init__(self, writer: Writer):
        super().__init__(writer.lines, writer.name, writer.declarations)
        self._writer = writer

    def write(self, text: str) -> str:
        return self._writer.value(text)
