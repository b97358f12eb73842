import type { Database } from '@backoffice/postgres/database.ts'
import { measureRows } from '@backoffice/postgres/measure-rows.ts'
import type { GiveWay } from '@backoffice/runtime/give-way.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { gauge } from '@backoffice/runtime/metrics.ts'
import { type CompiledRules, compileRules, UnreadableRules } from '../rules/compile.ts'
import type { Rules } from '../rules/rules.ts'

const unreadable = gauge(
  'collections_unreadable_rules',
  'Membership versions in use with rules that this process could not read',
)

/** Compiles the rules of membership versions, and knows those that this process cannot read. */
export class UnreadableVersions {
  /** The numbers of the versions that could not be read so far. The rules of a version never change. */
  readonly numbers = new Set<number>()
  readonly #logger: Logger | undefined

  /** `logger` gets an error once for each version that cannot be read: its members stay until a newer service runs. */
  constructor(logger?: Logger) {
    this.#logger = logger
  }

  /** The compiled rules of a version; null if this process cannot read them. */
  async compile(
    version: { workspaceId: string; number: number; rules: Rules },
    giveWay?: GiveWay,
  ): Promise<CompiledRules | null> {
    const { workspaceId, number, rules } = version
    try {
      return await compileRules(rules, giveWay)
    } catch (err) {
      if (!(err instanceof UnreadableRules)) throw err
      if (this.numbers.has(number)) return null
      this.numbers.add(number)
      this.#logger?.error({ err, workspace: workspaceId, version: number }, 'rules cannot be read; members stay')
      return null
    }
  }
}

/** Measures the versions that this process cannot read, and forgets those that another version has replaced. */
export const measureUnreadable = (db: Database, logger: Logger, { numbers }: UnreadableVersions) =>
  measureRows('unreadable rules', db, logger, async (tx) => {
    const asked = [...numbers]
    const rows = await tx<{ number: number }[]>`
      select number from membership_version where number = any(${asked}::bigint[]) and state in ('BUILDING', 'CURRENT')`
    const inUse = new Set(rows.map(({ number }) => number))
    for (const number of asked) if (!inUse.has(number)) numbers.delete(number)
    unreadable.record(inUse.size)
  })
