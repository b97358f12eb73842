import { expect, test } from 'vitest'
import { readableAnswer } from './print-answer.ts'

const page = { page: 1, size: 2, total: 3, total_pages: 2, has_next_page: true, has_previous_page: false }

test('a page is a table of the columns asked for, and says how to see the rest', () => {
  const items = [
    { id: '1', name: 'Ada', scopes: ['product', '*'], hidden: 'x', at: null },
    { id: '22', name: 'Grace', scopes: [], hidden: 'x', at: '2026-03-01T12:00:00Z' },
  ]
  expect(readableAnswer({ ...page, items }, ['id', 'name', 'scopes', 'at'])).toBe(
    [
      'ID  NAME   SCOPES      AT',
      '1   Ada    product, *  -',
      '22  Grace  -           2026-03-01T12:00:00Z',
      'page 1 of 2, 3 in all; --page 2 shows the next',
      '',
    ].join('\n'),
  )
})

test('the last page names no next one, and a list without items is none', () => {
  expect(readableAnswer({ ...page, page: 2, items: [{ id: '3' }] }, ['id'])).toContain('page 2 of 2, 3 in all\n')
  expect(readableAnswer({ ...page, total: 0, total_pages: 0, items: [] }, ['id'])).toBe('none\n')
})

test('a page of a list that is not counted says behind which item the next begins', () => {
  const items = [{ id: '3' }, { id: '4' }]
  expect(readableAnswer({ items, has_next_page: true }, ['id'])).toBe('ID\n3\n4\n--after 4 shows the next\n')
  expect(readableAnswer({ items, has_next_page: false }, ['id'])).toBe('ID\n3\n4\n')
})

test('an object has a line for each member, and its lists below; a resource inside it is its id and name', () => {
  const answer = {
    id: '1',
    sandbox: { id: '2', livemode: false },
    workspace: { id: '3', name: 'Shop' },
    rate_limit: { burst: 5 },
    services: [{ service: 'catalog', rows: 0 }],
    domain: null,
  }
  expect(readableAnswer(answer)).toBe(
    [
      'id          1',
      'sandbox     2',
      'workspace   3 (Shop)',
      'rate_limit  {"burst":5}',
      'domain      -',
      '',
      'services',
      'SERVICE  ROWS',
      'catalog  0',
      '',
    ].join('\n'),
  )
})

test('a list of an object has the columns asked for', () => {
  const runs = [{ id: '1', check: 'check-stock', checked: { variants: 5 } }]
  expect(readableAnswer({ runs }, [], { runs: ['check', 'id'] })).toBe('\nruns\nCHECK        ID\ncheck-stock  1\n')
})

test('control characters of a name do not reach the terminal', () => {
  expect(readableAnswer({ name: '\u001b[31mred\u001b[0m\u0007\nnext' })).toBe('name  red  next\n')
})
