/**
 * A setting is missing or wrong. The message begins with the setting's name and says all: it is logged without a stack.
 */
export class ConfigurationError extends Error {
  constructor(problem: string, options?: ErrorOptions) {
    super(`configuration: ${problem}`, options)
  }
}
