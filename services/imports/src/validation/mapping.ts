import { namedObject } from '@backoffice/contracts/named.ts'
import { z } from 'zod'

/** Rows shown with a mapping. */
export const ROWS_SHOWN = 20

const Row = namedObject('ImportMappingRow', { row: z.int(), values: z.record(z.string(), z.unknown()) })

/** What the columns of a file become, and its first valid rows as they are applied (OP-280). */
export const MappingAnswer = namedObject(
  'ImportMapping',
  {
    source: z.string().nullable(),
    currency: z.string().nullable(),
    columns: z.array(namedObject('ImportMappedColumn', { column: z.string(), target: z.string().nullable() })),
    rows: z.array(Row).max(ROWS_SHOWN),
  },
  {
    source: 'shopify',
    currency: 'EUR',
    columns: [
      { column: 'Variant SKU', target: 'sku' },
      { column: 'Vendor', target: null },
    ],
    rows: [{ row: 2, values: { sku: 'LINEN-M' } }],
  },
)

/** The mapping as it is kept: the rows are in a file. */
export type Mapping = Omit<z.output<typeof MappingAnswer>, 'rows'>
