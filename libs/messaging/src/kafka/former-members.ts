import { hostname } from 'node:os'
import type { Broker, Cluster, GroupDescriptions } from 'kafkajs'

const HOST = hostname()
const STARTED_AT = Math.round(performance.timeOrigin)

/** The name of a client, which says which process it is of: `name@host/pid/started`. */
export const clientIdOf = (name: string): string => `${name}@${HOST}/${process.pid}/${STARTED_AT}`

/** Whether a client is of a process that has ended on this host: also of one that this process is started again for. */
export function isOfEndedProcess(clientId: string): boolean {
  const [, host, pid, startedAt] = /@([^/]+)\/(\d+)\/(\d+)$/.exec(clientId) ?? []
  if (host !== HOST) return false
  if (Number(pid) === process.pid) return Number(startedAt) !== STARTED_AT
  return !isRunning(Number(pid))
}

function isRunning(pid: number): boolean {
  try {
    // Signal 0 only asks.
    return process.kill(pid, 0)
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}

/** The types of kafkajs leave this request out. */
type Coordinator = Broker & {
  leaveGroup(member: { groupId: string; memberId: string }): Promise<unknown>
}

/**
 * Removes members from a group that can do nothing for it any more: `replaced`, and those of processes that have ended
 * on this host. Until their sessions expire, the group would give their partitions to no other member. Throws retriable
 * errors of the broker only.
 */
export async function removeFormerMembers(cluster: Cluster, groupId: string, replaced?: string): Promise<void> {
  try {
    const coordinator = (await cluster.findGroupCoordinator({ groupId })) as Coordinator
    const { groups }: GroupDescriptions = await coordinator.describeGroups({ groupIds: [groupId] })
    const members = groups.flatMap((group) => group.members)
    for (const { memberId, clientId } of members) {
      if (memberId === replaced || isOfEndedProcess(clientId)) await coordinator.leaveGroup({ groupId, memberId })
    }
  } catch (error) {
    // Other errors are harmless: usually the former member has left, and the group does not know it.
    if (error instanceof Error && 'retriable' in error && error.retriable) throw error
  }
}
