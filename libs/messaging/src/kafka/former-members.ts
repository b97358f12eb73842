import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { crc32 } from 'node:zlib'
import type { Broker, Cluster, GroupDescriptions } from 'kafkajs'

/** A process, and where its pid is its own: other containers have the same pids, and may have the same host name. */
export interface Process {
  /** Of the machine since it was started. */
  readonly boot: string
  /** The namespaces of its host name and of its pid, in numbers of Linux; '' where these cannot be read. */
  readonly names: string
  readonly pids: string
  readonly pid: number
  /** In Unix milliseconds. */
  readonly startedAt: number
}

export const OWN: Process = {
  boot: orNothing(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)),
  names: orNothing(() => readlinkSync('/proc/self/ns/uts').replaceAll(/\D/g, '')),
  pids: orNothing(() => readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '')),
  pid: process.pid,
  startedAt: Math.round(performance.timeOrigin),
}

/** The namespace of the machine's own host name: containers that share it are several. */
const NAMES_OF_MACHINE = '4026531838'

function orNothing(read: () => string): string {
  try {
    return read()
  } catch {
    // Not on Linux: then no process is known to have ended.
    return ''
  }
}

/** The name of a client, which says which process it is of. */
export const clientIdOf = (name: string, { boot, names, pids, pid, startedAt }: Process = OWN): string =>
  `${name}@${hostname()}/${boot}/${names}/${pids}/${pid}/${startedAt}`

/** A number of 31 bits for a client, where there is no room for its name. */
export const numberOf = (clientId: string): number => crc32(clientId) >>> 1

/**
 * Whether a client is of a process that has ended, as far as this one can tell: of those that have pids in common with
 * it, and of the container that its own was started for again, which kept the host name of its pod.
 */
export function isOfEndedProcess(clientId: string, own: Process = OWN): boolean {
  const [, boot, names, pids, pid, startedAt] = /@[^/]+\/(\w+)\/(\d+)\/(\d+)\/(\d+)\/(\d+)$/.exec(clientId) ?? []
  if (boot === undefined || boot !== own.boot) return false
  if (pids !== own.pids) return names === own.names && names !== NAMES_OF_MACHINE && Number(pid) === own.pid
  if (Number(pid) === own.pid) return Number(startedAt) !== own.startedAt
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
 * Removes members from a group that can do nothing for it any more. Until their sessions expire, the group would give
 * their partitions to no other member. Throws retriable errors of the broker only.
 */
export async function removeFormerMembers(
  cluster: Cluster,
  groupId: string,
  isFormer: (member: { readonly memberId: string; readonly clientId: string }) => boolean,
): Promise<void> {
  try {
    const coordinator = (await cluster.findGroupCoordinator({ groupId })) as Coordinator
    const { groups }: GroupDescriptions = await coordinator.describeGroups({ groupIds: [groupId] })
    const members = groups.flatMap((group) => group.members)
    for (const member of members.filter(isFormer)) {
      await coordinator.leaveGroup({ groupId, memberId: member.memberId })
    }
  } catch (error) {
    // Other errors are harmless: usually the former member has left, and the group does not know it.
    if (error instanceof Error && 'retriable' in error && error.retriable) throw error
  }
}
