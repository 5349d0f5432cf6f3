import { Destinations } from './destinations.tsx'
import classes from './overview.module.css'
import { TopUsers } from './top-users.tsx'

/** Where messages go, and who sends most. */
export default function Traffic() {
  return (
    <div className={classes.tables}>
      <Destinations />
      <TopUsers />
    </div>
  )
}
