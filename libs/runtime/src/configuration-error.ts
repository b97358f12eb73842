/** A setting is missing or wrong. The message names it and says all: it is logged without a stack. */
export class ConfigurationError extends Error {
  constructor(problem: string, options?: ErrorOptions) {
    super(`configuration: ${problem}`, options)
  }
}
