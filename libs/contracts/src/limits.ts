/** Size limits (OP-07). */
export const LIMITS = {
  bodyBytes: 1024 * 1024,
  assetBytes: 20 * 1024 * 1024,
  importBytes: 1024 ** 3,
  jsonDepth: 32,
  nameLength: 255,
  descriptionLength: 64 * 1024,
  variantsPerProduct: 2048,
  idsPerCall: 1000,
  mediaPerProduct: 250,
} as const
