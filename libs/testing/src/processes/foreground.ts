import type { ChildProcess } from 'node:child_process'
import { guardChild } from './guard.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Waits for a program in this terminal, passes signals on to it, and returns its exit code. */
export function finished(child: ChildProcess): Promise<number> {
  guardChild(child, 'SIGTERM')
  const passOn = (signal: NodeJS.Signals) => child.kill(signal)
  for (const signal of SIGNALS) process.on(signal, passOn)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => {
      for (const signal of SIGNALS) process.off(signal, passOn)
      resolve(code ?? 1)
    })
  })
}
