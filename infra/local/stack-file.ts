import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DemoWorkspace } from './demo.ts'

/** What stack.json tells tools outside about the running stack. */
export interface StackDescription {
  readonly gateway: string
  readonly admin_token: string
  readonly workspaces: readonly DemoWorkspace[]
  readonly postgres: string
  readonly kafka: readonly string[]
  readonly registry: string
  readonly services: Readonly<Record<string, { readonly pid: number; readonly url: string }>>
}

/** Writes stack.json so that a reader sees the old one or the new one, never half of it. It holds keys: owner only. */
export function writeStackFile(directory: string, description: StackDescription): void {
  const file = join(directory, 'stack.json')
  writeFileSync(`${file}.new`, `${JSON.stringify(description, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/** Nothing runs in that folder any more. */
export const removeStackFile = (directory: string): void => rmSync(join(directory, 'stack.json'), { force: true })
