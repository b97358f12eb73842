import { RE2JS } from 're2js'

/** A pattern that is matched in time linear in the text. */
export interface LinearPattern {
  test(text: string): boolean
  /** The instructions of its program: counted repeats multiply them. */
  readonly size: number
  /** The pattern itself: ajv tells patterns apart by it. */
  toString(): string
}

/**
 * Compiles a pattern of a JSON Schema for RE2, which does not backtrack: `(a+)+$` is harmless. Unlike in ECMAScript,
 * `\s` is ASCII only, and `.` matches every character but a line feed. Throws a SyntaxError for what is no pattern of
 * ECMAScript, and RE2's error for what RE2 does not have: look-around, back-references, counts above 1000.
 */
export function linearPattern(pattern: string): LinearPattern {
  new RegExp(pattern, 'u')
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
  return { test: (text) => compiled.test(text), size: compiled.programSize(), toString: () => pattern }
}
