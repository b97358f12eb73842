import type { Logger } from '@backoffice/runtime/logger.ts'
import { counter } from '@backoffice/runtime/metrics.ts'
import { type CompiledRules, compileRules, UnreadableRules } from '../rules/compile.ts'
import type { Rules } from '../rules/rules.ts'

const unreadable = counter(
  'collections_unreadable_rules',
  'Membership versions with rules that this version of the service cannot read',
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
  compile(version: { workspaceId: string; number: number; rules: Rules }): CompiledRules | null {
    const { workspaceId, number, rules } = version
    try {
      return compileRules(rules)
    } catch (err) {
      if (!(err instanceof UnreadableRules)) throw err
      if (this.numbers.has(number)) return null
      this.numbers.add(number)
      unreadable.add(1)
      this.#logger?.error({ err, workspace: workspaceId, version: number }, 'rules cannot be read; members stay')
      return null
    }
  }
}
