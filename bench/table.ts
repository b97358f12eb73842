/** One line of the report: a measured figure, the floor it is compared with, and the bound of the project. */
export interface Row {
  readonly name: string
  readonly measured: string
  readonly floor?: string
  readonly ratio?: number
  readonly bound: string
}

/** Prints the rows as a table. */
export function printTable(rows: readonly Row[]): void {
  const cells = [
    ['', 'measured', 'floor, same run', 'ratio', 'bound'],
    ...rows.map(({ name, measured, floor = '', ratio, bound }) => [
      name,
      measured,
      floor,
      ratio?.toFixed(2) ?? '',
      bound,
    ]),
  ]
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0))) ?? []
  for (const line of cells)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}
