import { ALLOCATION, nodeFlags } from './node-flags.ts'
import { packageOf } from './workspaces.ts'

/** The name of the program in a tree that starts its service. */
export const START_SCRIPT = 'run'
/** The folder in a tree with the stripped and compiled sources, so that a start strips none. */
export const COMPILE_CACHE = '.compile-cache'

/** The program that starts a service: `exec` makes Node the process that gets the signals. */
export const startScript = (service: string): string => `#!/bin/sh
tree=$(dirname "$0")
export NODE_COMPILE_CACHE="$tree/${COMPILE_CACHE}"
${Object.entries(ALLOCATION)
  .map(([name, value]) => `export ${name}=${value}`)
  .join('\n')}
exec node ${nodeFlags(service).join(' ')} "$tree/${packageOf(service)}/src/main.ts"
`
