/** Size limits (OP-07 unless said). */
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
  imageUrlLength: 2048,
  /** Of a money map (OP-120). */
  currencies: 50,
  /** A record with its key and headers (OP-120): a product of 2,048 variants exceeds the broker's usual 1 MiB. */
  recordBytes: 8 * 1024 * 1024,
} as const
