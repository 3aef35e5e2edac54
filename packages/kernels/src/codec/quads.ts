/**
 * Flat vectors read and written four elements at a time, whatever their size. A binding of vec4 elements cannot see
 * the last one to three of a vector whose size is no multiple of four: such a vector is bound element by element.
 */

/** Groups of four elements that cover `size` elements, the last one maybe in part. */
export function quads(size: number): number {
  return Math.ceil(size / 4);
}

/** The type of a buffer of `size` elements. */
export function quadArray(size: number, element: 'f32' | 'u32'): string {
  return size % 4 === 0 ? `array<vec4<${element}>>` : `array<${element}>`;
}

/** WGSL function `name(quad: u32) -> vec4<element>` on the buffer `buffer`; zero beyond the end. */
export function quadLoad(name: string, buffer: string, size: number, element: 'f32' | 'u32'): string {
  const body =
    size % 4 === 0
      ? `return ${buffer}[quad];`
      : `let i = quad * 4u;
  if (i + 4u <= ${size}u) {
    return vec4<${element}>(${buffer}[i], ${buffer}[i + 1u], ${buffer}[i + 2u], ${buffer}[i + 3u]);
  }
  var part = vec4<${element}>();
  for (var lane = 0u; i + lane < ${size}u; lane++) { part[lane] = ${buffer}[i + lane]; }
  return part;`;
  return `fn ${name}(quad : u32) -> vec4<${element}> {
  ${body}
}
`;
}

/** WGSL function `name(quad: u32, value: vec4<element>)`; what lies beyond the end is not written. */
export function quadStore(name: string, buffer: string, size: number, element: 'f32' | 'u32'): string {
  const body =
    size % 4 === 0
      ? `${buffer}[quad] = value;`
      : `let i = quad * 4u;
  for (var lane = 0u; lane < min(4u, ${size}u - i); lane++) { ${buffer}[i + lane] = value[lane]; }`;
  return `fn ${name}(quad : u32, value : vec4<${element}>) {
  ${body}
}
`;
}
