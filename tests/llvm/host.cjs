// Calls one function of a WebAssembly module, as emulation.py says: node host.cjs MODULE FUNCTION LETTERS
"use strict"
const fs = require("fs")
const [, , file, name, letters] = process.argv
const input = fs.readFileSync(0)
const round = x => { const t = Math.trunc(x); return Math.abs(x - t) >= 0.5 ? t + Math.sign(x) : x === 0 || t !== 0 ? t : x * 0 }
// A float64 as a BigInt times a power of two.
const split = x => {
    const view = new DataView(new ArrayBuffer(8))
    view.setFloat64(0, x)
    const word = view.getBigUint64(0), exponent = Number(word >> 52n & 2047n)
    const size = (word & (1n << 52n) - 1n) | (exponent ? 1n << 52n : 0n)
    return [word >> 63n ? -size : size, (exponent || 1) - 1075]
}
// a * b + c, rounded once to so many bits and to no less than 2^least.
const fma = (bits, least) => (a, b, c) => {
    if (Number.isFinite(a) && Number.isFinite(b) && !Number.isFinite(c)) return c
    if (![a, b, c].every(Number.isFinite) || a === 0 || b === 0) return a * b + c
    const [p, q] = split(a), [r, s] = split(b), [t, u] = split(c)
    let exponent = Math.min(q + s, u), sum = (p * r << BigInt(q + s - exponent)) + (t << BigInt(u - exponent))
    if (sum === 0n) return 0
    const sign = sum < 0n ? -1 : 1
    sum *= BigInt(sign)
    const drop = Math.max(sum.toString(2).length - bits, least - exponent)
    if (drop > 0) {
        const half = 1n << BigInt(drop - 1), low = sum & (half << 1n) - 1n
        sum >>= BigInt(drop)
        exponent += drop
        if (low > half || (low === half && sum & 1n)) sum++
    }
    return sign * Number(sum) * 2 ** exponent
}
let end = 0
const place = size => {
    const at = (end + 63) & ~63
    end = at + size
    const memory = instance.exports.memory
    const lacking = end - memory.buffer.byteLength
    if (lacking > 0) memory.grow(Math.ceil(lacking / 65536))
    return at
}
const env = {
    calloc: (count, size) => {
        const bytes = (count >>> 0) * (size >>> 0), at = bytes < 2 ** 30 ? place(bytes) : 0
        if (at) new Uint8Array(instance.exports.memory.buffer, at, bytes).fill(0)
        return at
    },
    free: () => {},
    fmod: (a, b) => a % b, fmodf: (a, b) => a % b, round, roundf: round,
    fma: fma(53, -1074), fmaf: fma(24, -149),
}
const instance = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(file)), {env})
end = instance.exports.__heap_base.value
let at = 0
const word = () => { at += 8; return input.readBigInt64LE(at - 8) }
const number = () => { at += 8; return input.readDoubleLE(at - 8) }
const bytes = size => {
    const to = place(size)
    new Uint8Array(instance.exports.memory.buffer).set(input.subarray(at, at + size), to)
    at += size
    return to
}
const passed = [], given = []
const take = {
    A: () => { const count = word(), size = Number(word()), to = bytes(size); passed.push(to, count); given.push([to, size]) },
    i: () => passed.push(Number(BigInt.asIntN(32, word()))),
    l: () => passed.push(word()),
    f: () => passed.push(number()),
    d: () => passed.push(number()),
}
for (const letter of letters.slice(0, -1)) take[letter]()
const size = input.length - at, record = bytes(size)
const returned = instance.exports[name](...passed, record)
const result = Buffer.alloc(8)
if (typeof returned === "bigint") result.writeBigInt64LE(BigInt.asIntN(64, returned))
else if ("fd".includes(letters.at(-1))) result.writeDoubleLE(returned)
else result.writeBigInt64LE(BigInt(returned ?? 0))
const output = [...given, [record, size]].map(([to, size]) => Buffer.from(instance.exports.memory.buffer, to, size))
const all = Buffer.concat([...output, result])
for (let done = 0; done < all.length;) done += fs.writeSync(1, all, done)
