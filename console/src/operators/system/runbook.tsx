/** Names the section of the runbooks that says what to do. The gateway serves no operations guide. */
export const Runbook = ({ section }: { readonly section: string }) => (
  <p className="quiet">
    What to do: <code>docs/operations.md</code>, section <code>{section}</code>.
  </p>
)

interface UnansweredProps {
  readonly of: readonly { readonly service: string; readonly reason: string }[]
}

/** Services that did not answer, so that nothing of theirs is shown. */
export const Unanswered = ({ of: unanswered }: UnansweredProps) =>
  unanswered.length > 0 && (
    <p className="notice">
      Without an answer: {unanswered.map(({ service, reason }) => `${service} (${reason})`).join(', ')}
    </p>
  )
