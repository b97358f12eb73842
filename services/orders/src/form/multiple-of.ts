/** A finite number as its decimal says it: `units` times ten to the power of `exponent`. */
interface Decimal {
  readonly units: bigint
  readonly exponent: number
}

/**
 * Makes the check of `multipleOf`: whether the decimal of a number is a multiple of that of `divisor`. A division of
 * the floating-point numbers is not exact: 19.99 / 0.01 is 1998.9999999999998.
 */
export function multipleOf(divisor: number): (value: number) => boolean {
  const step = decimalOf(divisor)
  return (value) => {
    const number = decimalOf(value)
    const exponent = Math.min(step.exponent, number.exponent)
    return unitsAt(number, exponent) % unitsAt(step, exponent) === 0n
  }
}

/** Reads the shortest text that is this number, with an exponent: `1.999e+1`. */
function decimalOf(number: number): Decimal {
  const [digits = '', power] = number.toExponential().split('e')
  const [whole = '', fraction = ''] = digits.split('.')
  return { units: BigInt(whole + fraction), exponent: Number(power) - fraction.length }
}

const unitsAt = ({ units, exponent }: Decimal, lower: number) => units * 10n ** BigInt(exponent - lower)
