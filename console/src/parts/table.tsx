import { type ReactNode, useId } from 'react'

export interface Column<Row> {
  readonly head: string
  readonly cell: (row: Row) => ReactNode
  /** Numbers and money are at the right. */
  readonly isNumber?: boolean
  /** A word or two that stay in one line. */
  readonly isShort?: boolean
}

export interface TableProps<Row> {
  /** For readers of the screen: what the rows are. */
  readonly label: string
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  readonly columns: readonly Column<Row>[]
  /** What is in the place of a table without rows. */
  readonly empty?: ReactNode
  /** Others are being read. */
  readonly isBusy?: boolean
  /** Rows that are chosen, by key, with a box before each. */
  readonly chosen?: ReadonlySet<string>
  readonly onChoose?: (chosen: ReadonlySet<string>) => void
}

const CHOOSE_ALL = 'Choose all of this page'

const idOf = (row: unknown): string => (row as { id: string }).id

/**
 * Rows in columns; on a narrow screen each row is a card with names before its values. The key of a row is its id unless
 * `keyOf` says otherwise.
 */
export function Table<Row extends { readonly id: string }>(props: Omit<TableProps<Row>, 'keyOf'>): ReactNode
export function Table<Row>(props: TableProps<Row>): ReactNode
export function Table<Row>(props: Omit<TableProps<Row>, 'keyOf'> & Partial<Pick<TableProps<Row>, 'keyOf'>>) {
  const { label, rows, keyOf = idOf, columns, empty, isBusy = false, chosen, onChoose } = props
  const id = useId()
  if (rows.length === 0 && empty !== undefined)
    return typeof empty === 'string' ? <p className="quiet">{empty}</p> : empty
  const keys = rows.map(keyOf)
  const isAll = chosen !== undefined && keys.length > 0 && keys.every((key) => chosen.has(key))
  const toggle = (key: string) => {
    const next = new Set(chosen)
    if (!next.delete(key)) next.add(key)
    onChoose?.(next)
  }
  return (
    <table aria-label={label} aria-busy={isBusy}>
      <thead>
        <tr>
          {chosen && (
            <th className="choose">
              <label className="check" data-head={CHOOSE_ALL}>
                <input
                  type="checkbox"
                  aria-label={CHOOSE_ALL}
                  checked={isAll}
                  onChange={() => onChoose?.(new Set(isAll ? [] : keys))}
                />
              </label>
            </th>
          )}
          {columns.map(({ head, isNumber }) => (
            <th key={head} className={isNumber ? 'number' : undefined}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} id={`${id}${keyOf(row)}`}>
            {chosen && (
              <td className="choose">
                <input
                  type="checkbox"
                  aria-labelledby={`${id}${keyOf(row)}`}
                  checked={chosen.has(keyOf(row))}
                  onChange={() => toggle(keyOf(row))}
                />
              </td>
            )}
            {columns.map(({ head, cell, isNumber, isShort }) => (
              <td key={head} data-head={head} className={isNumber ? 'number' : isShort ? 'short' : undefined}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
