/** IEEE 754 binary16 conversion, round to nearest even; native `Float16Array` where the platform has it. */

interface Float16ArrayConstructorLike {
  new (
    buffer: ArrayBufferLike,
    byteOffset: number,
    length: number,
  ): {
    set(source: ArrayLike<number>): void;
  } & ArrayLike<number>;
}
const native = (globalThis as { Float16Array?: Float16ArrayConstructorLike }).Float16Array;

const scratchFloat = new Float32Array(1);
const scratchBits = new Uint32Array(scratchFloat.buffer);

/** Bits of the binary16 nearest to `value`; overflow gives infinity. */
export function toFloat16Bits(value: number): number {
  scratchFloat[0] = value;
  const bits = scratchBits[0] as number;
  const sign = (bits >>> 16) & 0x8000;
  const exponent = (bits >>> 23) & 0xff;
  const mantissa = bits & 0x7fffff;
  if (exponent === 0xff) return sign | 0x7c00 | (mantissa === 0 ? 0 : 0x200);
  const unbiased = exponent - 127;
  if (unbiased > 15) return sign | 0x7c00;
  if (unbiased >= -14) {
    const half = ((unbiased + 15) << 10) | (mantissa >>> 13);
    return sign | (half + roundUp(mantissa & 0x1fff, 0x1000, half));
  }
  if (unbiased < -25) return sign;
  const full = mantissa | 0x800000;
  const shift = -unbiased - 1; // 14..24
  const half = full >>> shift;
  const rest = full & ((1 << shift) - 1);
  return sign | (half + roundUp(rest, 1 << (shift - 1), half));
}

function roundUp(rest: number, halfway: number, result: number): number {
  if (rest > halfway) return 1;
  return rest === halfway ? result & 1 : 0;
}

export function fromFloat16Bits(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 0x1f;
  const mantissa = half & 0x3ff;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  if (exponent === 0x1f) return mantissa === 0 ? sign * Infinity : NaN;
  return sign * (1 + mantissa / 1024) * 2 ** (exponent - 15);
}

/** Writes `source` as binary16 into `target` (2 bytes an element, 2-byte aligned). */
export function packFloat16(source: Float32Array, target: Uint8Array, useNative = true): void {
  if (native && useNative) {
    new native(target.buffer, target.byteOffset, source.length).set(source);
    return;
  }
  const view = new Uint16Array(target.buffer, target.byteOffset, source.length);
  for (let i = 0; i < source.length; i++) view[i] = toFloat16Bits(source[i] as number);
}

/** Reads binary16 elements of `source` (2-byte aligned) into `target`. */
export function unpackFloat16(source: Uint8Array, target: Float32Array, useNative = true): void {
  if (native && useNative) {
    target.set(new native(source.buffer, source.byteOffset, target.length));
    return;
  }
  const view = new Uint16Array(source.buffer, source.byteOffset, target.length);
  for (let i = 0; i < target.length; i++) target[i] = fromFloat16Bits(view[i] as number);
}
