import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The memory of this process, in bytes by kind, without garbage: when V8 collects by itself depends on the load. */
export function usedMemory(): NodeJS.MemoryUsage {
  setFlagsFromString('--expose-gc')
  const collectGarbage: () => void = runInNewContext('gc')
  collectGarbage()
  return process.memoryUsage()
}
