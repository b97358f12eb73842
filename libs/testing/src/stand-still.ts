import { Socket } from 'node:net'
import { vi } from 'vitest'

/** Lets this process stand still for so long, once, as soon as it has sent something that contains `text`. */
export function standStillAfterSending(text: string, milliseconds: number): void {
  const write = Socket.prototype.write
  const spy = vi.spyOn(Socket.prototype, 'write').mockImplementation(function (this: Socket, ...sent: unknown[]) {
    const hasRoom = Reflect.apply(write, this, sent)
    if (Buffer.isBuffer(sent[0]) && sent[0].includes(text)) {
      spy.mockRestore()
      // The processor is free meanwhile, so that the answer comes.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
    }
    return hasRoom
  })
}
