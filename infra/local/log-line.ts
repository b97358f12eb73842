// Long or many-lined members say more in the JSON than in a line to read.
const LEFT_OUT = new Set(['level', 'time', 'service', 'msg', 'request_id', 'err'])

/**
 * One of a service's JSON log lines as one short line for a person: time, service, message, then its members. Anything
 * else that a service prints is shown as it is.
 */
export function readableLine(service: string, line: string): string {
  const entry = parse(line)
  if (!entry) return `         ${service.padEnd(17)} ${line}`
  const members = Object.entries(entry)
    .filter(([name, value]) => !LEFT_OUT.has(name) && value !== null)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const level = entry.level === 'info' ? '' : `${String(entry.level).toUpperCase()} `
  const time = String(entry.time).slice(11, 19)
  return [`${time} ${service.padEnd(17)} ${level}${entry.msg ?? ''}`, ...members, ...reason(entry.err)].join(' ')
}

function reason(error: unknown): string[] {
  return typeof error === 'object' && error !== null && 'message' in error ? [`err=${error.message}`] : []
}

function parse(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
