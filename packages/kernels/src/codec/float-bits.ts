/**
 * Arithmetic of the wire format on the bits of floats, as WGSL functions. Integers are exact on every device, while
 * WGSL lets a division be off by 2.5 units in the last place, flushes denormals, fuses a product into a sum, and lets
 * a compiler assume that nothing is NaN: bytes would depend on the GPU.
 *
 * A magnitude is `mantissa * 2 ** (exponent - 150)`, with mantissa < 2 ** 24 and exponent >= 1, denormals included.
 */

/** `isFinite4(bits)`: per lane, whether the float with these bits is neither infinite nor NaN. */
export const finiteBits = `
fn isFinite4(bits : vec4<u32>) -> vec4<bool> {
  return (bits & vec4<u32>(0x7f800000u)) != vec4<u32>(0x7f800000u);
}
`;

/** `exponentOf4` and `mantissaOf4` take a float apart, sign left out. */
const partsOfBits = `
fn exponentOf4(bits : vec4<u32>) -> vec4<u32> {
  return max((bits >> vec4<u32>(23u)) & vec4<u32>(0xffu), vec4<u32>(1u));
}
fn mantissaOf4(bits : vec4<u32>) -> vec4<u32> {
  let implicit = vec4<u32>((bits & vec4<u32>(0x7f800000u)) != vec4<u32>(0u)) << vec4<u32>(23u);
  return (bits & vec4<u32>(0x7fffffu)) | implicit;
}
`;

/**
 * `nearest4(mantissa, exponent)`: bits of the float32 nearest to mantissa * 2 ** (exponent - 150), ties to even, for
 * any mantissa below 2 ** 31 and exponent > -20; infinity where it is too large.
 */
const nearest = `
fn nearest4(mantissa : vec4<u32>, exponent : i32) -> vec4<u32> {
  let surplus = vec4<i32>(firstLeadingBit(mantissa)) - vec4<i32>(23);
  let right = max(surplus, vec4<i32>(1 - exponent));
  let shift = vec4<u32>(max(right, vec4<i32>(0)));
  let half = (vec4<u32>(1u) << shift) >> vec4<u32>(1u);
  let odd = (mantissa >> shift) & vec4<u32>(1u);
  // Without a shift there is nothing to round, and half is 0.
  let bias = select(half - vec4<u32>(1u) + odd, vec4<u32>(0u), half == vec4<u32>(0u));
  let rounded = (mantissa + bias) >> shift;
  let exact = mantissa << vec4<u32>(max(-right, vec4<i32>(0)));
  let significand = select(rounded, exact, right < vec4<i32>(0));
  // The implicit bit of a normal float adds one to the exponent, as does a carry out of the rounding.
  let bits = (vec4<u32>(vec4<i32>(exponent) + right - vec4<i32>(1)) << vec4<u32>(23u)) + significand;
  return select(min(bits, vec4<u32>(0x7f800000u)), vec4<u32>(0u), mantissa == vec4<u32>(0u));
}
`;

/** Bits of the float32 above which a block's maximum counts as 3.4e38, and of the scale that it then has. */
const [ceiling, ceilingScale] = (() => {
  const floats = Float32Array.of(3.4e38, 3.4e38 / 127);
  const bits = new Uint32Array(floats.buffer);
  return [(bits[0] as number) - ((floats[0] as number) > 3.4e38 ? 1 : 0), bits[1] as number];
})();

/**
 * int8 with a scale, as `packInt8` of @tabweave/shared.
 * - `scaleOf(largest)`: bits of the scale of a block from the bits of its largest magnitude.
 * - `quantised4(bits, scale)`: Math.round(value / scale) within [-127, 127]: the exact quotient rounded, halves upwards.
 *   An estimate in floats is off by one at most, which integers tell. 0 where the scale is 0, infinite or NaN.
 * - `dequantised4(values, scale)`: bits of the float32 nearest to values * scale, for values within [-128, 127].
 */
export const int8Bits = `${partsOfBits}${nearest}
fn scaleOf(largest : u32) -> u32 {
  if (largest > 0x7f800000u) { return 0x7fc00000u; }
  if (largest == 0x7f800000u) { return largest; }
  if (largest > ${ceiling}u) { return ${ceilingScale}u; }
  let bits = vec4<u32>(largest);
  let dividend = mantissaOf4(bits).x << 8u;
  // 127 is odd: the quotient is never a tie, and one bit tells that there is more.
  let quotient = dividend / 127u;
  let more = u32(quotient * 127u != dividend);
  return nearest4(vec4<u32>((quotient << 1u) | more), i32(exponentOf4(bits).x) - 9).x;
}
struct Scale { unit : u32, exponent : u32, reciprocal : f32 }
fn divisor(scale : u32) -> Scale {
  let bits = vec4<u32>(scale);
  let unit = mantissaOf4(bits).x;
  return Scale(select(unit, 0u, (scale & 0x7f800000u) == 0x7f800000u), exponentOf4(bits).x, 0.5f / f32(max(unit, 1u)));
}
fn quantised4(bits : vec4<u32>, scale : Scale) -> vec4<i32> {
  if (scale.unit == 0u) { return vec4<i32>(0); }
  let negative = bits >> vec4<u32>(31u);
  // In units of half the scale's mantissa; a value whose exponent is more than one below is less than half a step.
  let shift = vec4<i32>(exponentOf4(bits)) - vec4<i32>(i32(scale.exponent) - 1);
  let doubled = select(mantissaOf4(bits) << vec4<u32>(max(shift, vec4<i32>(0))), vec4<u32>(0u), shift < vec4<i32>(0));
  let dividend = doubled + vec4<u32>(scale.unit) - negative;
  let step = vec4<u32>(2u * scale.unit);
  let limit = vec4<u32>(127u);
  var steps = min(vec4<u32>(vec4<f32>(dividend) * scale.reciprocal), limit);
  let reached = steps * step;
  steps -= vec4<u32>(reached > dividend);
  steps += vec4<u32>((reached <= dividend) & (dividend - reached >= step));
  steps = min(steps, limit);
  return select(vec4<i32>(steps), -vec4<i32>(steps), negative == vec4<u32>(1u));
}
fn dequantised4(values : vec4<i32>, scale : u32) -> vec4<u32> {
  let sign = (vec4<u32>(values) ^ vec4<u32>(scale)) & vec4<u32>(0x80000000u);
  let magnitude = vec4<u32>(abs(values));
  let size = vec4<u32>(scale & 0x7fffffffu);
  let finite = nearest4(magnitude * mantissaOf4(size), i32(exponentOf4(size).x)) | sign;
  let infinite = select(vec4<u32>(0x7fc00000u), size | sign, (magnitude != vec4<u32>(0u)) & (size == vec4<u32>(0x7f800000u)));
  return select(infinite, finite, size < vec4<u32>(0x7f800000u));
}
`;

/**
 * float16 as `packFloat16` and `unpackFloat16` of @tabweave/shared: round to nearest even, overflow to infinity, NaN
 * without its payload.
 * - `halves4(bits)`: binary16 bits in the low half of each lane.
 * - `singles4(halves)`: float32 bits of the low half of each lane.
 */
export const float16Bits = `
fn halves4(bits : vec4<u32>) -> vec4<u32> {
  let sign = (bits >> vec4<u32>(16u)) & vec4<u32>(0x8000u);
  let size = bits & vec4<u32>(0x7fffffffu);
  let one = vec4<u32>(1u);
  let normal = (size - vec4<u32>(0x38000000u) + vec4<u32>(0xfffu) + ((size >> vec4<u32>(13u)) & one)) >> vec4<u32>(13u);
  // Below 2 ** -14: so many units of 2 ** -24. Past a shift of 24 nothing is left.
  let shift = min(vec4<u32>(126u) - min(size >> vec4<u32>(23u), vec4<u32>(112u)), vec4<u32>(31u));
  let significand = (size & vec4<u32>(0x7fffffu)) | vec4<u32>(0x800000u);
  let odd = (significand >> shift) & one;
  let small = (significand + (one << (shift - one)) - one + odd) >> shift;
  var half = select(normal, small, size < vec4<u32>(0x38800000u));
  half = select(half, vec4<u32>(0x7c00u), size >= vec4<u32>(0x47800000u));
  half = select(half, vec4<u32>(0x7e00u), size > vec4<u32>(0x7f800000u));
  return half | sign;
}
fn singles4(halves : vec4<u32>) -> vec4<u32> {
  let sign = (halves & vec4<u32>(0x8000u)) << vec4<u32>(16u);
  let exponent = (halves >> vec4<u32>(10u)) & vec4<u32>(0x1fu);
  let fraction = halves & vec4<u32>(0x3ffu);
  let normal = ((exponent + vec4<u32>(112u)) << vec4<u32>(23u)) | (fraction << vec4<u32>(13u));
  let small = bitcast<vec4<u32>>(vec4<f32>(fraction) * ${2 ** -24}f);
  var single = select(normal, small, exponent == vec4<u32>(0u)) | sign;
  single = select(single, vec4<u32>(0x7f800000u) | sign, exponent == vec4<u32>(31u));
  return select(single, vec4<u32>(0x7fc00000u), (exponent == vec4<u32>(31u)) & (fraction != vec4<u32>(0u)));
}
`;
