module copy_urgent

go 1.24
