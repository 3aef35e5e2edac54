/** What tests take from Node and a browser has not. */
class ComparedBytes extends Uint8Array {
  static compare(a: Uint8Array, b: Uint8Array): number {
    const at = a.findIndex((value, i) => value !== b[i]);
    const difference = at < 0 ? a.length - b.length : (a[at] ?? -1) - (b[at] ?? -1);
    return Math.sign(difference);
  }
}

Object.assign(globalThis, { Buffer: ComparedBytes });
