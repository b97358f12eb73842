import type { ChildProcess } from 'node:child_process'
import { guardChild } from './guard.ts'

/** Waits for a program that has this terminal, passes signals on to it, and returns its exit code. */
export function finished(child: ChildProcess): Promise<number> {
  if (child.pid) guardChild(child.pid, 'SIGTERM')
  const passOn = (signal: NodeJS.Signals) => child.kill(signal)
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, passOn)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => {
      for (const signal of signals) process.off(signal, passOn)
      resolve(code ?? 1)
    })
  })
}
