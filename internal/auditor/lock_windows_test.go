package auditor

import "os"

func tryLock(*os.File) bool { return true }
