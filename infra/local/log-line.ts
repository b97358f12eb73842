import { parsedJson } from '@backoffice/runtime/parsed-json.ts'

// Members that are too long for one line, or are in it already.
const LEFT_OUT = new Set(['level', 'time', 'service', 'msg', 'request_id', 'trace_id', 'span_id', 'err'])

/**
 * Shortens a JSON log line of a service for the terminal: time, service, message, then its members. Returns lines that
 * are not JSON unchanged, after the service's name.
 */
export function readableLine(service: string, line: string): string {
  const entry = line.startsWith('{') ? (parsedJson(line) as Record<string, unknown> | undefined) : undefined
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
