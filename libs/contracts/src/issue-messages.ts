import type { z } from 'zod'

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'must be a UUID',
  datetime: 'must be a time such as 2026-03-01T09:30:00Z',
  date: 'must be a day such as 2026-03-01',
  email: 'must be an email address',
  hostname: 'must be the name of a host such as shop.example.com',
  url: 'must be an absolute URL',
}

/**
 * What a value must be, for schemas whose rules say nothing of their own: `must be at least 0`. Give it to zod's
 * `parse` as `error`. Other mistakes keep zod's text.
 */
export function issueMessage(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required'
      return `must be ${TYPES[issue.expected] ?? issue.expected}${received(issue.input, issue.expected)}`
    case 'invalid_value':
      if (issue.input === undefined) return 'is required'
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`
    case 'invalid_format':
      return FORMATS[issue.format]
    case 'too_small':
      return `must ${limited(issue.origin, issue.inclusive === false ? 'more than' : 'at least', Number(issue.minimum))}`
    case 'too_big':
      return `must ${limited(issue.origin, issue.inclusive === false ? 'less than' : 'at most', Number(issue.maximum))}`
    default:
      return undefined
  }
}

function received(input: unknown, expected: string): string {
  const type = input === null ? 'null' : Array.isArray(input) ? 'array' : typeof input
  if (type === 'number' && (expected === 'int' || expected === 'number')) return ''
  return `, not ${type === 'boolean' ? 'a boolean' : (TYPES[type] ?? type)}`
}

const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item', set: 'item' }

function limited(origin: string, how: string, limit: number): string {
  const unit = UNITS[origin]
  return unit === undefined ? `be ${how} ${limit}` : `have ${how} ${limit} ${unit}${limit === 1 ? '' : 's'}`
}
