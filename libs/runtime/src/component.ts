/** A component of a process: started in the order listed, stopped in the reverse order (`stopComponents`). */
export interface Component {
  readonly name: string
  start?(): Promise<void>
  /** Whether the component can do its work now; asked by the readiness probe, which waits 2 s for the answer. */
  isReady?(): Promise<boolean>
  /** What does not work although the component is ready: the readiness probe's answer says it. */
  remark?(): string | undefined
  /** Called after a request or records were handled: a loop that rests while there are none looks for work again. */
  rouse?(): void
  /** Called `STOP_DELAY` before `stop`: makes clients go elsewhere, and continues to work. */
  drain?(): void
  /** Work that is not over `until` (`performance.now()`) is abandoned. `runProcess` always gives it. */
  stop?(until?: number): Promise<void>
}

/** A component that is built when it starts. */
export function builtAtStart(name: string, build: () => Component): Component {
  let built: Component | undefined
  return {
    name,
    async start() {
      built = build()
      await built.start?.()
    },
    drain: () => built?.drain?.(),
    async stop(until) {
      await built?.stop?.(until)
    },
  }
}
