import type { ChildProcess } from 'node:child_process'
import { guardChild, unguardChild } from './guard.ts'

/** Waits for a program in this terminal, passes signals on to it, and returns its exit code. */
export function finished(child: ChildProcess): Promise<number> {
  const { pid } = child
  if (pid) guardChild(pid, 'SIGTERM')
  const passOn = (signal: NodeJS.Signals) => child.kill(signal)
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, passOn)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => {
      if (pid) unguardChild(pid)
      for (const signal of signals) process.off(signal, passOn)
      resolve(code ?? 1)
    })
  })
}
