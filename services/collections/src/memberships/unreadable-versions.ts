import type { Logger } from '@backoffice/runtime/logger.ts'
import { meter } from '@backoffice/runtime/metrics.ts'
import { type CompiledRules, compileRules, UnreadableRules } from '../rules/compile.ts'
import type { Rules } from '../rules/rules.ts'

const unreadable = meter('collections').createCounter('collections_unreadable_rules', {
  description: 'Membership versions with rules that this version of the service cannot read',
})

/** A membership version with rules. */
interface VersionWithRules {
  readonly workspaceId: string
  readonly number: number
  readonly rules: Rules
}

/** Compiles the rules of membership versions, and knows those that this process cannot read. */
export interface UnreadableVersions {
  /** The numbers of the versions that could not be read so far. The rules of a version never change. */
  readonly numbers: ReadonlySet<number>
  /** The compiled rules of a version; null if this process cannot read them. */
  compile(version: VersionWithRules): CompiledRules | null
}

/**
 * Logs an error and counts, once for each version that cannot be read: an alarm for the operator, since its members
 * stay as they are until a version of the service runs that can read the rules. Without a logger it logs nothing.
 */
export function unreadableVersions(logger?: Logger): UnreadableVersions {
  const numbers = new Set<number>()
  return {
    numbers,
    compile({ workspaceId, number, rules }) {
      try {
        return compileRules(rules)
      } catch (error) {
        if (!(error instanceof UnreadableRules)) throw error
        if (!numbers.has(number)) {
          unreadable.add(1)
          logger?.error({ err: error, workspace: workspaceId, version: number }, 'rules cannot be read; members stay')
        }
        numbers.add(number)
        return null
      }
    },
  }
}
