import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { freePort, isFree, isListening, portProblem, refuseUnusable } from './ports.ts'

function listen(port: number): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer()
    onTestFinished(() => void server.close())
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

test('a port that was handed out is free, and not handed out again', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, () => freePort()))

  expect(new Set(ports).size).toBe(50)
  for (const port of ports) expect(await isFree(port, '127.0.0.1')).toBe(true)
})

test('two processes never have the same port, and a process that has ended has none', async () => {
  const range = [19_900, 19_908] as const
  const code = `
    const { freePort } = await import(${JSON.stringify(import.meta.resolve('./ports.ts'))})
    console.log(JSON.stringify([await freePort(${range}), await freePort(${range}), await freePort(${range})]))
    process.stdin.resume()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [printed] = await once(child.stdout, 'data')
  const theirs: number[] = JSON.parse(printed)
  const ours = await Promise.all(Array.from({ length: 5 }, () => freePort(...range)))

  expect(new Set([...theirs, ...ours]).size).toBe(8)
  await expect(freePort(...range)).rejects.toThrow('no free port from 19900 to 19907')

  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(theirs).toContain(await freePort(...range))
})

test('a port lies below those that outgoing connections use', async () => {
  expect(await freePort()).toBeLessThan(32_768)
})

test('a port in use is not free, and listens', async () => {
  const port = await freePort()
  expect(await isListening(port)).toBe(false)

  await listen(port)

  expect(await isFree(port, '127.0.0.1')).toBe(false)
  expect(await isListening(port)).toBe(true)
})

test('a port in use is refused with what to do', async () => {
  const port = await freePort()
  await expect(refuseUnusable(port)).resolves.toBeUndefined()

  await listen(port)

  await expect(refuseUnusable(port)).rejects.toThrow(`port ${port} is in use: stop what listens there`)
})

test('a port that this user may not listen on is refused with what to do, in one line', () => {
  const error = Object.assign(new Error('listen EACCES: permission denied 127.0.0.1:80'), { code: 'EACCES' })
  expect(portProblem(80, error)).toBe(
    'this user has no right to listen on port 80: choose one from 1024 on with PORT=<port> npm start, or start as root',
  )
})
