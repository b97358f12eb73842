import type { components } from '../api/client.ts'

export type Template = components['schemas']['ImportTemplate']

/** What a file can have, in words for somebody who looks for the right one. */
const TEMPLATE_NAMES: Readonly<Record<string, readonly [string, string]>> = {
  products: ['Products', 'Products with price and stock, also those with variants.'],
  product_variants: ['Variants', 'Further variants of products that are there.'],
  stock: ['Stock', 'How many there are of each SKU.'],
  categories: ['Categories', 'Categories, and which is part of which.'],
  customers: ['Customers', 'People with their e-mail addresses.'],
  collections: ['Collections', 'Collections and their rules.'],
}

export const templateName = (key: string): string => TEMPLATE_NAMES[key]?.[0] ?? key
export const templateHint = (key: string): string => TEMPLATE_NAMES[key]?.[1] ?? ''

const HEAD_BYTES = 65_536

/** Of a file that was saved anew, or that is gone, a browser reads nothing. */
const UNREADABLE = 'The file cannot be read. It has changed since you chose it, or is gone: choose it again.'

/** The columns of a CSV file in lower case, from its first line that is not blank. Throws for an unreadable file. */
export async function headerOf(file: Blob): Promise<readonly string[]> {
  const text = await file
    .slice(0, HEAD_BYTES)
    .text()
    .catch((cause) => {
      throw new Error(UNREADABLE, { cause })
    })
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const line = lines.find((one) => one.trim() !== '' && !/^sep=/i.test(one)) ?? ''
  const [separator = ','] = [',', ';', '\t'].toSorted((a, b) => line.split(b).length - line.split(a).length)
  return line.split(separator).map((cell) =>
    cell
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .toLowerCase(),
  )
}

/** The template that a file is made for: it has the key and most columns. Exports of other shops have products. */
export function templateOf(header: readonly string[], templates: readonly Template[]): Template | undefined {
  const keyOf = ({ columns }: Template) => columns.find(({ required }) => required)?.name ?? ''
  const known = (template: Template) => header.filter((column) => template.header.includes(column)).length
  const [best] = templates
    .filter((template) => (header.includes('title') ? template.key === 'products' : header.includes(keyOf(template))))
    .toSorted((a, b) => known(b) - known(a) || a.header.length - b.header.length)
  return best
}

/** Whether a file may come from another platform: it has columns that the template has not. */
export const isForeign = (header: readonly string[], template: Template): boolean =>
  header.some((column) => column !== 'error' && !template.header.includes(column))
