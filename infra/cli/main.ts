import { text } from 'node:stream/consumers'
import { runCli } from './run-cli.ts'

// Who reads the output may end first, as `head` does. The exit code is that of a program which SIGPIPE has ended.
process.stdout.on('error', () => {
  process.exitCode = 141
  // A command that listens to the error too has something to clean up, and ends by itself.
  if (process.stdout.listenerCount('error') === 1) process.exit()
})

/** `npx backoffice …`: the admin API on the command line. */
const exitCode = await runCli(process.argv.slice(2), {
  environment: process.env,
  print: (output) => void process.stdout.write(output),
  printError: (output) => void process.stderr.write(output),
  readInput: () => text(process.stdin),
})
process.exitCode ??= exitCode
