import { useReachable } from '../api/reachability.ts'
import { texts } from '../texts/texts.ts'
import classes from './shell.module.css'

/** A banner while the service is not responding. */
export function UnreachableNotice() {
  const isReachable = useReachable()
  return (
    <div role="status">
      {!isReachable && (
        <p className={classes.unreachable} style={{ margin: 0 }}>
          {texts.shell.unreachable}
        </p>
      )}
    </div>
  )
}
