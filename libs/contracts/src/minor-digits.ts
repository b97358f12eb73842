/** Currencies whose minor unit is not a hundredth, by ISO 4217. Intl has the digits that people write: none of HUF. */
const MINOR_DIGITS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF',
    3: 'BHD IQD JOD KWD LYD OMR TND',
  }).flatMap(([digits, currencies]) => currencies.split(' ').map((currency) => [currency, Number(digits)])),
)

/** The decimals of a currency's amounts, all of which are stored in minor units: 2 for USD, 0 for JPY. */
export const minorDigits = (currency: string): number => MINOR_DIGITS.get(currency) ?? 2
