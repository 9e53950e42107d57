"""The interpreter: IR with its methods still whole, run on exact integers. It shares no code with any lowering."""
