import { issueMessage } from '@backoffice/contracts/issue-messages.ts'
import { named, namedObject } from '@backoffice/contracts/named.ts'
import { validate } from '@backoffice/contracts/validation.ts'
import { z } from 'zod'
import { FIELD_NAMES, findField, OPERATORS_OF_FIELDS, operatorNames } from './fields.ts'

const CONDITIONS_MAX = 60

const VALUE =
  'What the field is compared with: a text, an integer (amounts in minor units), true or false, or a date-time with its offset; ' +
  'for in and not_in a list of 1 to 1,000 of them; left out for is_set and is_not_set.'

const AnyCondition = z.strictObject({
  field: z.string().describe(`One of ${FIELD_NAMES}; <CUR> is an ISO 4217 currency code.`),
  operator: z.string().describe(`${OPERATORS_OF_FIELDS}.`),
  value: z.unknown().optional().describe(VALUE),
})

const Condition = named(
  'RuleCondition',
  AnyCondition.superRefine(({ field: name, operator: operatorName, value }, context) => {
    const field = findField(name)
    if (field === undefined) {
      return context.addIssue({ code: 'custom', path: ['field'], message: `must be one of ${FIELD_NAMES}` })
    }
    const operator = field.get(operatorName)
    if (operator === undefined) {
      const message = `${name} takes ${operatorNames(field)}`
      return context.addIssue({ code: 'custom', path: ['operator'], message })
    }
    for (const issue of operator.value.safeParse(value, { error: issueMessage }).error?.issues ?? []) {
      context.addIssue({ ...issue, path: ['value', ...issue.path] })
    }
  }),
)
export type Condition = z.output<typeof Condition>

/** The rules of a SMART collection (OP-30, OP-110). */
export const Rules = namedObject(
  'Rules',
  {
    match: z.enum(['all', 'any']),
    conditions: z.array(Condition).min(1).max(CONDITIONS_MAX),
  },
  { match: 'all', conditions: [{ field: 'tag', operator: 'eq', value: 'summer' }] },
)
export type Rules = z.output<typeof Rules>

/** The members of rules, of whatever fields, operators and values. Another member could change what they mean. */
export const AnyRules = z.strictObject({ match: Rules.shape.match, conditions: z.array(AnyCondition).min(1) })

/** Checks the `rules` of a request. Throws `bad_request` with the path of each mistake. */
export const readRules = (rules: unknown): Rules => validate(z.strictObject({ rules: Rules }), { rules }, 'body').rules
