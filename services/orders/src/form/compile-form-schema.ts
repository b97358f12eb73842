import type { MemberPath } from '@backoffice/contracts/errors.ts'
import Ajv, { type ErrorObject, type FuncKeywordDefinition, str } from 'ajv/dist/2020.js'
import { FORMATS } from './formats.ts'
import { linearPattern } from './linear-pattern.ts'
import { multipleOf } from './multiple-of.ts'

/** A member that breaks the form, and why. */
interface BrokenRule {
  readonly path: MemberPath
  readonly reason: string
}

const LONGEST_REASON = 300

/** As ajv's own, but exact. */
const MULTIPLE_OF: FuncKeywordDefinition & { keyword: string } = {
  keyword: 'multipleOf',
  type: 'number',
  schemaType: 'number',
  compile: multipleOf,
  error: { message: ({ schemaCode }) => str`must be multiple of ${schemaCode}` },
}

/**
 * Compiles a workspace's order form, which `checkFormSchema` has accepted, into a function that returns the first rule
 * an order breaks. Each form has an ajv of its own, because ajv never forgets the values of a schema.
 */
export function compileFormSchema(schema: object): (form: unknown) => BrokenRule | undefined {
  const ajv = new Ajv.default({
    // checkFormSchema checks the schema.
    meta: false,
    validateSchema: false,
    strict: false,
    logger: false,
    formats: FORMATS,
    // `required: ["toString"]` is about the order's own members.
    ownProperties: true,
    // The code stays linear in the schema.
    inlineRefs: false,
    code: { optimize: false, regExp: Object.assign(linearPattern, { code: 'linearPattern' }) },
  })
  ajv.removeKeyword(MULTIPLE_OF.keyword).addKeyword(MULTIPLE_OF)
  const isValid = ajv.compile(schema)
  return (form) => (isValid(form) ? undefined : brokenRule(isValid.errors ?? [], form))
}

/**
 * Reports the last error: ajv lists errors of branches before that of their `anyOf`. The error of an `if` says less
 * than its branch.
 */
function brokenRule(errors: readonly ErrorObject[], form: unknown): BrokenRule {
  const error = errors.findLast(({ keyword }) => keyword !== 'if') ?? errors.at(-1)
  if (error === undefined) return { path: [], reason: "breaks the workspace's order form" }
  const { keyword, params, message = 'is invalid' } = error
  const path = stepsOf(error.instancePath, form)
  if (keyword === 'required' || keyword === 'dependentRequired') {
    return { path: [...path, params.missingProperty], reason: 'must be given (it is missing)' }
  }
  const unknown = params.additionalProperty ?? params.unevaluatedProperty ?? params.propertyName
  if (unknown !== undefined)
    return { path: [...path, unknown], reason: "is not a member of the workspace's order form; leave it out" }
  if (keyword === 'enum') return { path, reason: short(`must be one of ${JSON.stringify(params.allowedValues)}`) }
  if (keyword === 'const') return { path, reason: short(`must be ${JSON.stringify(params.allowedValue)}`) }
  if (keyword === 'false schema') return { path, reason: 'must not be given' }
  return { path, reason: short(message) }
}

const short = (reason: string) => (reason.length > LONGEST_REASON ? `${reason.slice(0, LONGEST_REASON)}…` : reason)

/** The path of a JSON pointer; a step into a list is a number. */
function stepsOf(pointer: string, form: unknown): MemberPath {
  let value = form
  return pointer
    .split('/')
    .slice(1)
    .map((escaped) => {
      const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
      const step = Array.isArray(value) ? Number(name) : name
      value = (value as Record<string | number, unknown>)[step]
      return step
    })
}
