import type { ColumnType, ImportColumn } from '@backoffice/contracts/import-templates.ts'
import { describe, expect, it } from 'vitest'
import { readCell } from './cells.ts'

const column = (type: ColumnType): ImportColumn => ({
  name: 'column',
  type,
  required: false,
  enum: type === 'enum' ? ['ACTIVE', 'HIDDEN'] : [],
  references: null,
})

describe('a cell is read by the type of its column (OP-53)', () => {
  it.each<[ColumnType, string, unknown]>([
    ['string', ' Mug ', ' Mug '],
    ['uuid', '0190b3a0-0000-7000-8000-000000000001', '0190b3a0-0000-7000-8000-000000000001'],
    ['date', '2026-03-01', '2026-03-01'],
    ['datetime', '2026-03-01T12:00:00+01:00', '2026-03-01T12:00:00+01:00'],
    ['enum', 'HIDDEN', 'HIDDEN'],
    ['integer', '12', 12],
    ['integer', '-12', -12],
    ['integer', '007', 7],
    ['integer', String(Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER],
    ['boolean', 'true', true],
    ['boolean', 'FALSE', false],
    ['money', 'NGN:450000;USD:300', { NGN: 450_000, USD: 300 }],
    ['money', ' NGN:0 ; USD:1 ', { NGN: 0, USD: 1 }],
    ['money', `EUR:${Number.MAX_SAFE_INTEGER}`, { EUR: Number.MAX_SAFE_INTEGER }],
    ['list', 'kitchen;new', ['kitchen', 'new']],
    ['list', ' kitchen ;; new;', ['kitchen', 'new']],
  ])('%s %j', (type, text, value) => {
    expect(readCell(text, column(type))).toEqual(value)
  })
})

describe('a cell of another form is bad_request, and the message shows the form (OP-53, OP-56)', () => {
  const integer = 'must be a whole number such as 12, without separators'
  const money = 'must be amounts in minor units by currency, such as NGN:450000;USD:300'

  it.each<[ColumnType, string, string]>([
    ['enum', 'active', 'must be one of ACTIVE, HIDDEN'],
    ['integer', '1,000', integer],
    ['integer', '1.0', integer],
    ['integer', '1e3', integer],
    ['integer', '+1', integer],
    ['integer', ' 1', integer],
    ['integer', '٣', integer],
    ['integer', '-', integer],
    ['integer', '12345678901234567', integer],
    ['boolean', 'yes', 'must be true or false'],
    ['boolean', '1', 'must be true or false'],
    ['money', '450000', money],
    ['money', 'NGN:4500.00', money],
    ['money', 'NGN:-1', money],
    ['money', 'NGN:1;', money],
    ['money', '₦:1', money],
    ['money', 'NGN:1;NGN:2', 'gives NGN twice'],
    ['list', ' ; ', 'has no values; leave the cell empty to keep what is there'],
  ])('%s %j', (type, text, message) => {
    const read = () => readCell(text, column(type))
    expect(read).toThrow(expect.objectContaining({ code: 'bad_request', path: ['column'], reason: message }))
  })
})
