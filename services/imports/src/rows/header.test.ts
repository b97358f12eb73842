import { importTemplate } from '@backoffice/contracts/import-templates.ts'
import { describe, expect, it } from 'vitest'
import { readHeader } from './header.ts'

const template = importTemplate('categories')
const ALLOWED = 'the template categories has slug, name, parent, position'
const read = (...cells: string[]) => readHeader(template, cells)
const namesOf = (...cells: string[]) => read(...cells).columns.map((column) => column?.name)
const error = (column: string, message: string, value: string | null = null) => ({
  column,
  code: 'bad_request',
  message,
  value,
})

it('finds columns in any order, and optional ones may be missing', () => {
  expect(read('position', 'slug').errors).toEqual([])
  expect(namesOf('position', 'slug')).toEqual(['position', 'slug'])
})

it('ignores spaces around names, and empty cells behind the last one', () => {
  expect(read(' slug ', 'name', '', ' ').errors).toEqual([])
  expect(namesOf(' slug ', 'name', '', ' ')).toEqual(['slug', 'name'])
})

it('finds names in any case', () => {
  expect(read('Slug', 'NAME', ' Parent').errors).toEqual([])
  expect(namesOf('Slug', 'NAME', ' Parent')).toEqual(['slug', 'name', 'parent'])
  expect(read('slug', 'ERROR')).toMatchObject({ isCorrected: true, errors: [] })
})

it('takes a file with the column "error" for a corrected one, and does not read the column', () => {
  expect(read('slug', 'error')).toMatchObject({ isCorrected: true, errors: [] })
  expect(namesOf('error', 'slug')).toEqual([undefined, 'slug'])
  expect(read('slug').isCorrected).toBe(false)
})

describe('a header is refused with each of its mistakes (OP-52)', () => {
  it.each([
    ['a missing column', ['name'], [error('slug', 'the column is missing; add it to the header')]],
    ['no column', [], [error('slug', 'the column is missing; add it to the header')]],
    ['an unknown column', ['slug', 'Named'], [error('named', `unknown column; ${ALLOWED}`, 'named')]],
    [
      'a column that is there twice',
      ['slug', 'Slug'],
      [error('slug', 'the column is there twice; keep one of them', 'slug')],
    ],
    [
      'two columns "error"',
      ['slug', 'error', 'error'],
      [error('error', 'the column is there twice; keep one of them', 'error')],
    ],
    ['a column without a name', ['slug', '', 'name'], [error('', `column 2 has no name; ${ALLOWED}`)]],
    [
      'a member of every object',
      ['slug', 'constructor'],
      [error('constructor', `unknown column; ${ALLOWED}`, 'constructor')],
    ],
  ])('%s', (_what, cells, errors) => {
    expect(read(...cells).errors).toEqual(errors)
  })

  it('UTF-16 without its byte order mark', () => {
    const cells = Buffer.from('slug,name', 'utf16le').toString().split(',')
    expect(read(...cells).errors).toEqual([error('', expect.stringContaining('save it as UTF-8'))])
  })
})

it('shows the first 20 unknown columns of a file that is something else, with what is missing', () => {
  const names = Array.from({ length: 1000 }, (_, n) => `column ${n}`)
  const { errors } = readHeader(template, names)
  expect(errors).toHaveLength(21)
  expect(errors.at(-1)).toMatchObject({ column: 'slug' })
})

it('shows 255 characters of a long name', () => {
  const [{ column, value, message } = error('', '')] = read('x'.repeat(1000), 'slug').errors
  expect([column, value]).toEqual(['x'.repeat(255), 'x'.repeat(255)])
  expect(message).toBe(`unknown column; ${ALLOWED}`)
})
