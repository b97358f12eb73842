import { expect, it } from 'vitest'
import { withValue } from './filters.tsx'

it('offers the value that filters, also one that is no option', () => {
  const options = ['FAILED', ['a', 'shop.example.com']] as const
  expect(withValue(options, 'gone')).toEqual([...options, ['gone', 'gone']])
  for (const value of ['FAILED', 'a', '', undefined]) expect(withValue(options, value)).toEqual(options)
})
