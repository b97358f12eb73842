import type { Sql } from '@backoffice/postgres/database.ts'
import type { z } from 'zod'
import type { RunParameters } from './check-run.ts'

/** What a check works with. */
export interface Checking {
  /** One connection of the worker role. It reads `int8` as text. */
  readonly sql: Sql
  readonly parameters: RunParameters
  /** Called with each finding. One that is `tooYoung` is shown, and does not count. */
  report(finding: object): void
}

/** A check: it writes nothing, and keeps little in memory, since it runs beside requests. */
export interface Check {
  /** Refuses parameters that it cannot run with. Without it, the check takes none. */
  readonly parameters?: z.ZodType
  /** Returns how much it has compared: one that saw nothing finds nothing either. */
  run(checking: Checking): Promise<Record<string, number>>
}

export type Checks = Readonly<Record<string, Check>>
