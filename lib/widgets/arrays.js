// @ts-check
// Numbers that a page carries as text: bytes in base64, half-precision numbers, and the product of two rows.

/** The bytes behind a base64 text. @param {string} text */
export function bytesOf(text) {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = characters.charCodeAt(k);
  return bytes.buffer;
}

/** A half-precision number from its 16 bits: sign, 5 of exponent, 10 of fraction. @param {number} bits */
export function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/**
 * Σ a_k b_k, where the second row starts at `offset`.
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 */
export function dot(a, b, offset = 0) {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[offset + k];
  return sum;
}
