import { readFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { importTemplate, TEMPLATE_ROWS } from './import-templates.ts'
import { TEMPLATES } from './imports.ts'

describe.each(TEMPLATES)('the template %s (spec: Import template)', (key) => {
  const template = importTemplate(key)
  const { row, key: keyColumn, example } = TEMPLATE_ROWS[key]

  it('has the members of its rows as columns, the header in their order', () => {
    expect(template.header).toEqual(Object.keys(row.shape))
    expect(template.columns.map(({ name }) => name)).toEqual(template.header)
    expect(template).toMatchObject({ key, file: `${key}.csv` })
  })

  it('requires the columns that its rows require, and its key', () => {
    const required = template.columns.filter((column) => column.required).map(({ name }) => name)
    const empty = row.safeParse({})
    expect(empty.error?.issues.map(({ path }) => path[0])).toEqual(required)
    expect(required).toContain(keyColumn)
  })

  it('refers to columns that are there', () => {
    for (const { references } of template.columns) {
      const [other, column] = references?.split('.') ?? []
      if (other === undefined) continue
      expect(importTemplate(TEMPLATES.find((one) => one === other) ?? key).header).toContain(column)
    }
  })

  it('allows the values of an enum column only', () => {
    for (const column of template.columns.filter(({ type }) => type === 'enum')) {
      expect(column.enum.length).toBeGreaterThan(1)
      const [member] = Object.entries(row.shape).flatMap(([name, schema]) => (name === column.name ? [schema] : []))
      for (const value of column.enum) expect(member?.safeParse(value).success).toBe(true)
      expect(member?.safeParse('OTHER').success).toBe(false)
    }
  })

  it('has an example in columns that are there, its key among them', () => {
    expect(template.header).toEqual(expect.arrayContaining(Object.keys(example)))
    expect(Object.keys(example)).toContain(keyColumn)
  })
})

/** The columns of all templates, as docs/imports.md shows them. */
function columnTables(): string {
  const tables = TEMPLATES.map(importTemplate).map(({ key, columns }) => {
    const rows = columns.map(({ name, type, required, enum: allowed, references }) => {
      const values = allowed.length > 0 ? allowed.join(', ') : references === null ? '' : `of \`${references}\``
      return `| \`${name}\` | ${type}${required ? ', required' : ''} | ${values} |`
    })
    return [`### ${key}`, '', '| column | type | values |', '|---|---|---|', ...rows].join('\n')
  })
  return tables.join('\n\n')
}

test('docs/imports.md shows the columns of every template', () => {
  const text = readFileSync(new URL('../../../docs/imports.md', import.meta.url), 'utf8')
  const [, shown] = /<!-- columns -->\n\n([\s\S]*)\n\n<!-- end of columns -->/.exec(text) ?? []
  expect(shown).toBe(columnTables())
})
